//! What one run is to be, drawn from its seed.

use crate::fault::{Fault, Rates};
use crate::plant::Bug;

const SECOND: u64 = 1000;
const MINUTE: u64 = 60 * SECOND;
const HOUR: u64 = 60 * MINUTE;

/// What to run.
#[derive(Debug, Clone, Default)]
pub struct Config {
    /// Everything is drawn from it.
    pub seed: u64,
    /// Faults that do not strike.
    pub without: Vec<Fault>,
    /// At most so many of the app's actions.
    pub actions: Option<usize>,
    /// At most so many tabs.
    pub tabs: Option<usize>,
    /// A bug that is planted.
    pub bug: Option<Bug>,
}

/// The draw.
#[derive(Debug, Clone)]
pub(crate) struct Plan {
    pub(crate) seed: u64,
    pub(crate) rates: Rates,
    pub(crate) tabs: usize,
    pub(crate) actions: usize,
    /// How long faults strike and the app acts.
    pub(crate) duration: u64,
    /// The usual longest time of one hop over the network.
    pub(crate) network: u64,
    /// The usual longest time of one step of the store.
    pub(crate) store: u64,
    /// The steps between two strokes of chaos, on average.
    pub(crate) chaos: u32,
    /// The share of items that is poisoned, if any are.
    pub(crate) poison: f64,
    /// Whether it stays when all other faults have stopped.
    pub(crate) poison_stays: bool,
    /// How far the server's clock is off.
    pub(crate) server_clock: i64,
    /// Whether the server hides `Date`.
    pub(crate) hides_date: bool,
    /// The server's limits.
    pub(crate) limits: Option<(u32, u32)>,
    pub(crate) bug: Option<Bug>,
}

impl Plan {
    pub(crate) fn draw(config: &Config) -> Self {
        let mut random = fastrand::Rng::with_seed(config.seed ^ 0x5157_a11f);
        let rates = Rates::draw(&mut random, &config.without);
        let tabs = [1, 1, 2, 2, 3][random.usize(..5)];
        let actions = [2, 4, 8, 12, 20, 35][random.usize(..6)];
        let durations = [20 * SECOND, 2 * MINUTE, 10 * MINUTE, HOUR, 6 * HOUR];
        let duration = durations[random.usize(..5)];
        let network = [5, 50, 400, 3 * SECOND][random.usize(..4)];
        let store = [0, 3, 20, 300][random.usize(..4)];
        let chaos = [40, 150, 400, 1000][random.usize(..4)];
        let poison = [0.04, 0.1, 0.3, 1.0][random.usize(..4)];
        let clocks = [HOUR, 24 * HOUR, 8760 * HOUR].map(|length| i64::try_from(length).unwrap_or(0));
        let (clock, ahead) = (clocks[random.usize(..3)], random.bool());
        let limits = ([2, 7, 30][random.usize(..3)], [1024, 4096, 65536][random.usize(..3)]);
        let poison_stays = random.u8(..4) == 0;
        let hides_date = random.u8(..4) == 0;
        Self {
            seed: config.seed,
            tabs: config.tabs.map_or(tabs, |most| tabs.min(most)),
            actions: config.actions.map_or(actions, |most| actions.min(most)),
            duration,
            network,
            store,
            chaos,
            poison,
            poison_stays,
            server_clock: match (rates.has(Fault::ServerClock), ahead) {
                (false, _) => 0,
                (true, true) => clock,
                (true, false) => -clock,
            },
            hides_date,
            limits: rates.has(Fault::SmallLimits).then_some(limits),
            rates,
            bug: config.bug,
        }
    }

    /// A calm run: what a directed scenario begins with.
    #[cfg(test)]
    pub(crate) fn calm(seed: u64) -> Self {
        Self {
            seed,
            rates: Rates::default(),
            tabs: 1,
            actions: 0,
            duration: 0,
            network: 20,
            store: 3,
            chaos: u32::MAX,
            poison: 0.0,
            poison_stays: true,
            server_clock: 0,
            hides_date: false,
            limits: None,
            bug: None,
        }
    }
}
