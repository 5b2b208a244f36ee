//! What can go wrong, and how often it does in a run.

use std::collections::BTreeMap;

macro_rules! faults {
    ($($(#[$doc:meta])* $name:ident),* $(,)?) => {
        /// The kinds of fault.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Fault { $($(#[$doc])* $name),* }

        impl Fault {
            /// All of them.
            pub const ALL: &'static [Fault] = &[$(Fault::$name),*];

            /// The fault's name, as the command line takes it.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(Fault::$name => stringify!($name)),* }
            }
        }
    };
}

faults! {
    /// A request never arrives.
    RequestLost,
    /// The server did it, and its answer never arrives.
    AnswerLost,
    /// The network delivers a request twice.
    Doubled,
    /// The same, the second time much later.
    DoubledLate,
    /// A request or answer takes long, past the deadline too.
    SlowNetwork,
    /// Results in another order.
    Shuffled,
    /// A result is missing.
    MissingResult,
    /// `results: []`.
    NoResults,
    /// A result for an id that was not asked about.
    Stranger,
    /// Two results for one id that contradict each other.
    Contradiction,
    /// Ids come back in upper case.
    UpperCase,
    /// The answer's JSON is cut off.
    CutOff,
    /// A portal's page with status 200.
    Html,
    /// `{}`.
    EmptyObject,
    /// 204.
    NoContent,
    /// A redirect.
    Redirect,
    /// The credentials have run out.
    TokenExpired,
    /// Credentials that were called fresh are refused too.
    TokenStale,
    /// The app has no fresh credentials.
    SignedOut,
    /// The app's `headers` function throws.
    HeadersFailed,
    /// 408, 425, 429 or 503, with some `Retry-After`.
    Patience,
    /// A `Retry-After` of hours or days.
    LongPatience,
    /// 502 or 504.
    Gateway,
    /// 500 for no reason.
    Failure,
    /// 400, 413 or 422 for a whole batch, for no reason.
    Refusal,
    /// 403 or 404 of a gateway.
    Forbidden,
    /// The server did it, and a gateway answers something else.
    AnswerReplaced,
    /// An item is rejected for no reason.
    ItemRejected,
    /// Someone has created the same id with other content.
    ItemConflict,
    /// The server gives an item the id of another row.
    IdentityLie,
    /// Small limits, told by 413.
    SmallLimits,
    /// No capabilities.
    NoCapabilities,
    /// Some items make the server fail.
    PoisonFails,
    /// Some items make the server refuse the batch.
    PoisonRefused,
    /// Some items make the server give no answer.
    PoisonSilent,
    /// The server is down for a while.
    Outage,
    /// The server's clock differs.
    ServerClock,
    /// The device's store is full.
    StoreFull,
    /// The connection to the store is lost.
    StoreLost,
    /// The store is blocked.
    StoreBlocked,
    /// The store does not answer, and has done nothing.
    StoreTimeout,
    /// The store does not answer, and has done it.
    StoreTimeoutDone,
    /// The store is slow.
    SlowStore,
    /// A tab is killed.
    Kill,
    /// The device loses power.
    PowerCut,
    /// A tab is frozen for a while.
    Freeze,
    /// The lock is given away while its holder still believes to have it.
    Theft,
    /// A message between tabs is lost.
    MessageLost,
    /// A message between tabs is late.
    MessageDelayed,
    /// The device's clock is set forward.
    ClockForward,
    /// The device's clock is set back.
    ClockBack,
    /// The browser says online and offline at random.
    OnlineFlips,
}

impl Fault {
    /// The fault of a name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Fault::ALL.iter().copied().find(|fault| fault.name().eq_ignore_ascii_case(name))
    }
}

/// How often each fault strikes in one run.
#[derive(Debug, Clone, Default)]
pub(crate) struct Rates {
    rates: BTreeMap<Fault, f64>,
}

impl Rates {
    /// Draws the rates of a run. What is left out is drawn too, so that the others stay the same without it.
    pub(crate) fn draw(random: &mut fastrand::Rng, without: &[Fault]) -> Self {
        let share = [0.0, 0.15, 0.4, 0.4, 0.7][random.usize(..5)];
        let scale = [0.3, 1.0, 1.0, 2.0][random.usize(..4)];
        let mut rates = BTreeMap::new();
        for fault in Fault::ALL {
            let (chance, rate): (f64, f64) = (random.f64(), [0.02, 0.08, 0.25][random.usize(..3)]);
            if chance < share && !without.contains(fault) {
                rates.insert(*fault, (rate * scale).min(0.5));
            }
        }
        Self { rates }
    }

    /// Only what is set.
    #[cfg(test)]
    pub(crate) fn only(set: &[(Fault, f64)]) -> Self {
        Self { rates: set.iter().copied().collect() }
    }

    pub(crate) fn of(&self, fault: Fault) -> f64 {
        self.rates.get(&fault).copied().unwrap_or(0.0)
    }

    pub(crate) fn has(&self, fault: Fault) -> bool {
        self.rates.contains_key(&fault)
    }
}
