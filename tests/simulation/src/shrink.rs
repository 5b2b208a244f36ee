//! Makes a failing run smaller: fewer faults, fewer actions, fewer tabs, as long as the same promise is broken.

use crate::check::Kind;
use crate::fault::Fault;
use crate::plan::Config;
use crate::run::run;

/// The smallest run found that still breaks the promise.
#[must_use]
pub fn shrink(config: &Config, kind: Kind) -> Config {
    let fails = |config: &Config| run(config).violations.iter().any(|violation| violation.kind == kind);
    let mut smallest = config.clone();
    let mut attempt = |change: &dyn Fn(&mut Config)| {
        let mut smaller = smallest.clone();
        change(&mut smaller);
        if fails(&smaller) {
            smallest = smaller;
        }
    };
    for tabs in [2, 1] {
        attempt(&|config| config.tabs = Some(tabs));
    }
    for fault in Fault::ALL {
        attempt(&|config| config.without.push(*fault));
    }
    for actions in [20, 12, 8, 5, 3, 2, 1] {
        attempt(&|config| config.actions = Some(actions));
    }
    smallest
}
