//! How often an endpoint that is down is asked, and whether the time it named is kept.

use std::collections::BTreeMap;

use super::{Kind, Violation};
use crate::executor::Party;
use crate::trace::{Asked, Happened, Trace};

/// Requests that any outage may see.
const BASE: u64 = 40;
/// The mean of the widest window.
const WINDOW: u64 = 75_000;

#[derive(Default)]
struct Pace {
    found: Vec<Violation>,
    /// Before when each tab may not ask.
    floors: BTreeMap<Party, u64>,
    outage: Option<Outage>,
    jumped: bool,
}

struct Outage {
    began: u64,
    until: u64,
    kind: &'static str,
    requests: u64,
    allowed: u64,
}

pub(super) fn check(trace: &Trace) -> Vec<Violation> {
    let mut pace = Pace::default();
    for entry in &trace.entries {
        pace.take(entry.at, &entry.what);
    }
    pace.found
}

impl Pace {
    fn take(&mut self, at: u64, what: &Happened) {
        if self.outage.as_ref().is_some_and(|outage| at > outage.until) {
            self.outage = None;
        }
        match what {
            Happened::OutageBegins { until, kind } => {
                self.outage =
                    Some(Outage { began: at, until: *until, kind, requests: 0, allowed: BASE + (until - at) / WINDOW });
            }
            Happened::FaultsEnd => self.outage = None,
            Happened::Request { tab, .. } => self.request(at, *tab),
            Happened::Delivered { tab, floor: Some(floor), .. } => {
                // The server's clock and a header in whole seconds are not exact to the last second.
                self.floors.insert(*tab, at + floor.saturating_sub(1_000));
            }
            Happened::Wrote { tab, claim: true, floor, .. } if *floor > 0 && !self.jumped => {
                self.floors.insert(*tab, at + floor.saturating_sub(1_000));
            }
            // Plans made by a clock that has jumped are as good as none.
            Happened::ClockJump { .. } => {
                self.floors.clear();
                self.jumped = true;
                self.allow(6);
            }
            Happened::Call { asked: Asked::Sync | Asked::Resume, .. } | Happened::Online { .. } => self.allow(4),
            Happened::Opened { .. } | Happened::Stolen { .. } | Happened::Thawed { .. } => self.allow(15),
            _ => {}
        }
    }

    fn allow(&mut self, more: u64) {
        if let Some(outage) = &mut self.outage {
            outage.allowed += more;
        }
    }

    fn request(&mut self, at: u64, tab: Party) {
        if let Some(floor) = self.floors.get(&tab)
            && at < *floor
        {
            let text = format!("tab {tab} asks {} ms before the time that the server named", floor - at);
            self.found.push(Violation::new(Kind::Floor, at, text));
        }
        if let Some(outage) = &mut self.outage {
            outage.requests += 1;
            if outage.requests == outage.allowed + 1 {
                let text =
                    format!("{} requests in {} ms of an outage ({})", outage.requests, at - outage.began, outage.kind);
                self.found.push(Violation::new(Kind::Backoff, at, text));
            }
        }
    }
}
