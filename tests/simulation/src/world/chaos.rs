//! What happens to tabs and devices: killed, frozen, without power, with the lock or the clock gone astray.

use std::rc::Rc;

use super::World;
use super::tab::Tab;
use crate::app;
use crate::fault::Fault;
use crate::trace::Happened;

const KINDS: [Fault; 7] = [
    Fault::Kill,
    Fault::PowerCut,
    Fault::Freeze,
    Fault::Theft,
    Fault::ClockForward,
    Fault::ClockBack,
    Fault::OnlineFlips,
];

impl World {
    /// The steps until chaos strikes next.
    pub(crate) fn calm_steps(&self) -> u32 {
        self.chaos.borrow_mut().u32(1..self.plan.chaos.saturating_mul(2).max(2))
    }

    /// Does one thing to a tab or to the device, if the plan has any.
    pub(crate) fn strike(self: &Rc<Self>) {
        let kind = KINDS[self.chaos.borrow_mut().usize(..KINDS.len())];
        if !self.faults_on.get() || !self.plan.rates.has(kind) {
            return;
        }
        let tabs = self.open_tabs();
        let Some(tab) = self.chaos.borrow_mut().choice(&tabs).cloned() else {
            return;
        };
        if self.do_to(kind, &tab) {
            self.struck(kind);
        }
    }

    fn do_to(self: &Rc<Self>, kind: Fault, tab: &Tab) -> bool {
        match kind {
            Fault::Kill => {
                self.kill_tab(tab.party);
                self.reopen_later();
            }
            Fault::PowerCut => self.cut_power(),
            Fault::Freeze => {
                self.freeze_tab(tab.party);
                let millis = self.pick(&[500, 15_000, 200_000, 7_200_000]);
                let (world, party) = (Rc::clone(self), tab.party);
                self.spawn(async move {
                    world.sleep(millis).await;
                    world.thaw_tab(party);
                });
            }
            Fault::Theft => return self.steal_lock(),
            Fault::ClockForward | Fault::ClockBack => {
                let length = self.pick(&[90_000, 7_200_000, 72_000_000, 63_072_000_000]);
                let by = i64::try_from(length).unwrap_or(0);
                self.jump_clock(if kind == Fault::ClockBack { -by } else { by });
            }
            _ => {
                let online = self.chaos.borrow_mut().bool();
                self.note(Happened::Online { tab: tab.party, online });
                tab.handle.online(online);
            }
        }
        true
    }

    /// The device goes dark: every tab dies, and what was not flushed may be gone.
    pub(crate) fn cut_power(self: &Rc<Self>) {
        let tabs = self.open_tabs();
        for tab in &tabs {
            self.kill_tab(tab.party);
        }
        let kept = self.disk.borrow_mut().cut_power(&mut self.chaos.borrow_mut());
        self.note(Happened::PowerCut { kept });
        for _ in tabs {
            self.reopen_later();
        }
    }

    fn reopen_later(self: &Rc<Self>) {
        if self.chaos.borrow_mut().u8(..5) == 0 {
            return;
        }
        let millis = self.pick(&[1, 300, 5_000, 120_000]);
        let world = Rc::clone(self);
        self.spawn(async move {
            world.sleep(millis).await;
            if world.faults_on.get() && world.open_tabs().len() < world.plan.tabs {
                app::begin(&world);
            }
        });
    }

    fn pick(&self, lengths: &[u64]) -> u64 {
        let mut random = self.chaos.borrow_mut();
        let longest = random.choice(lengths).copied().unwrap_or(1);
        random.u64(longest / 2..=longest)
    }
}
