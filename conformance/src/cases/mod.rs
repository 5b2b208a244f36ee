//! The contract's cases.

mod batch;
mod batch_rows;
mod broken;
mod content;
mod keys;
mod owners;
mod race;
mod replay;

use crate::bench::{Bench, Stop};
use crate::report::Profile;

/// A case: its name and what it is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Case {
    /// `S1` to `S33`, `B1` to `B14`.
    pub id: &'static str,
    /// What it is about.
    pub title: &'static str,
}

/// One create at a time.
pub const SINGLE: [Case; 33] = [
    case("S1", "new key"),
    case("S2", "replay"),
    case("S3", "create, edit, replay"),
    case("S4", "20 at once"),
    case("S5", "retry after 409"),
    case("S6", "same key, other body"),
    case("S7", "then the original body"),
    case("S8", "same key, other endpoint"),
    case("S9", "reordered JSON"),
    case("S10", "no key"),
    case("S11", "empty key"),
    case("S12", "bad syntax, two keys"),
    case("S13", "bare, then quoted"),
    case("S14", "255-character keys differing at the end"),
    case("S15", "64 KiB key"),
    case("S16", "UTF-8 key"),
    case("S17", "NUL, CR, SQL text in a key"),
    case("S18", "UUID in two cases"),
    case("S19", "header name in another case"),
    case("S20", "GET with a key"),
    case("S21", "two owners, one key"),
    case("S22", "one owner, refreshed token"),
    case("S23", "unauthenticated, known key"),
    case("S24", "4xx, corrected body, same key"),
    case("S25", "500, then retry"),
    case("S26", "answer lost after commit"),
    case("S27", "server killed before commit"),
    case("S28", "past the key's time to live"),
    case("S29", "new key, same business identity"),
    case("S30", "409 carries Retry-After"),
    case("S31", "preflight"),
    case("S32", "client gives up, then retries"),
    case("S33", "replay that validation would refuse"),
];

/// Many at once.
pub const BATCH: [Case; 14] = [
    case("B1", "all new"),
    case("B2", "replay"),
    case("B3", "old and new mixed"),
    case("B4", "same id twice"),
    case("B5", "one invalid item"),
    case("B6", "shuffled results"),
    case("B7", "crossing batches"),
    case("B8", "killed after commit"),
    case("B9", "same id, other content"),
    case("B10", "too many, and none"),
    case("B11", "two owners, one id"),
    case("B12", "batch races a single create"),
    case("B13", "create, edit elsewhere, late replay"),
    case("B14", "create, delete, late replay"),
];

const fn case(id: &'static str, title: &'static str) -> Case {
    Case { id, title }
}

/// The cases of a profile.
#[must_use]
pub fn of(profile: Profile) -> &'static [Case] {
    match profile {
        Profile::Ietf | Profile::Token => &SINGLE,
        Profile::Batch => &BATCH,
    }
}

pub(crate) async fn run(bench: &mut Bench<'_>, case: &Case) -> Result<(), Stop> {
    match case.id {
        "S1" => replay::new_key(bench).await,
        "S2" => replay::replay(bench).await,
        "S3" => replay::edit_between(bench).await,
        "S4" => race::twenty_at_once(bench).await,
        "S5" => race::retry_after_conflict(bench).await,
        "S6" => content::other_body(bench).await,
        "S7" => content::original_body_again(bench).await,
        "S8" => content::other_endpoint(bench).await,
        "S9" => replay::reordered(bench).await,
        "S10" => keys::none(bench).await,
        "S11" => keys::empty(bench).await,
        "S12" => keys::bad_syntax(bench).await,
        "S13" => replay::quoted(bench).await,
        "S14" => keys::longest(bench).await,
        "S15" => keys::too_long(bench).await,
        "S16" => keys::not_ascii(bench).await,
        "S17" => keys::nasty(bench).await,
        "S18" => replay::upper_case(bench).await,
        "S19" => replay::header_name(bench).await,
        "S20" => keys::get(bench).await,
        "S21" => owners::two_owners(bench).await,
        "S22" => owners::refreshed(bench).await,
        "S23" => owners::stranger(bench).await,
        "S24" => content::corrected(bench).await,
        "S25" => broken::failed_inside(bench).await,
        "S26" => broken::lost_answer(bench).await,
        "S27" => broken::killed_before_commit(bench).await,
        "S28" => broken::past_time_to_live(bench).await,
        "S29" => content::business_identity(bench).await,
        "S30" => race::conflict_says_when(bench).await,
        "S31" => owners::preflight(bench).await,
        "S32" => broken::given_up(bench).await,
        "S33" => content::validation_comes_second(bench).await,
        "B1" => batch::all_new(bench).await,
        "B2" => batch::replay(bench).await,
        "B3" => batch::mixed(bench).await,
        "B4" => batch::twice_in_one(bench).await,
        "B5" => batch::one_invalid(bench).await,
        "B6" => {
            Err(Stop::NotTested("needs a client: a backend cannot show how results out of order are taken".to_owned()))
        }
        "B7" => batch_rows::crossing(bench).await,
        "B8" => batch_rows::killed_after_commit(bench).await,
        "B9" => batch_rows::other_content(bench).await,
        "B10" => batch::too_many_and_none(bench).await,
        "B11" => batch_rows::two_owners(bench).await,
        "B12" => batch_rows::races_a_create(bench).await,
        "B13" => batch_rows::edited_since(bench).await,
        "B14" => batch_rows::deleted_since(bench).await,
        id => Err(Stop::NotTested(format!("needs a checker that knows {id}"))),
    }
}
