use js_sys::Array;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{IdbCursor, IdbIndex, IdbKeyRange, IdbRequest};

use super::codec::{Flaw, Row, State, decode, decode_header};
use super::fault::Fault;
use super::schema::{BY_DUE, BY_NAME, BY_STATE, HEADER_KEY};
use super::transaction::Transaction;
use crate::adapter::number::{nearest, whole_from};
use crate::core::operation::Record;
use crate::core::time::Time;
use crate::id::ClientMemoryId;
use crate::port::{Due, DueQuery, Filter, ListQuery, Meta, Page, StoreError};

/// How many due rows are fetched at once: the limit on bytes is known only after their content is here.
const BATCH: u32 = 64;

/// Told of each row that cannot be read. It is left where it is, and left out of what is read.
pub(super) type Unreadable<'a> = &'a dyn Fn(&Row, Flaw);

pub(super) async fn meta(transaction: &Transaction) -> Result<Meta, Fault> {
    let request = transaction.meta()?.get(&HEADER_KEY.into())?;
    transaction.succeeded(&request).await?;
    let header = decode_header(&request.result()?);
    header.map(|header| header.meta).map_err(|flaw| Fault::Final(StoreError::Corrupt(flaw.into())))
}

pub(super) async fn get(transaction: &Transaction, kind: &str, id: ClientMemoryId) -> Result<Option<Record>, Fault> {
    let name = Array::of2(&kind.into(), &id.to_string().into());
    let request = transaction.records()?.index(BY_NAME)?.get(&name)?;
    transaction.succeeded(&request).await?;
    let row = request.result()?;
    if row.is_undefined() {
        return Ok(None);
    }
    let record = decode(row.unchecked_ref());
    record.map(Some).map_err(|flaw| Fault::Final(StoreError::Corrupt(flaw.into())))
}

pub(super) async fn load(
    transaction: &Transaction,
    orders: &[u64],
    unreadable: Unreadable<'_>,
) -> Result<Vec<Record>, Fault> {
    let store = transaction.records()?;
    let requests = orders.iter().map(|order| store.get(&nearest(*order).into()));
    let requests = requests.collect::<Result<Vec<IdbRequest>, JsValue>>()?;
    if let Some(last) = requests.last() {
        transaction.succeeded(last).await?;
    }
    let mut records = Vec::with_capacity(requests.len());
    for request in &requests {
        let row = request.result()?;
        if !row.is_undefined() {
            records.extend(read(row.unchecked_ref(), unreadable));
        }
    }
    Ok(records)
}

pub(super) async fn due(transaction: &Transaction, query: DueQuery, unreadable: Unreadable<'_>) -> Result<Due, Fault> {
    let index = transaction.records()?.index(BY_DUE)?;
    let key_of = |row: &Row| Array::of2(&row.due_key(), &row.order());
    // Behind all orders of that time.
    let after = |time: Time| Array::of2(&nearest(time.0).into(), &f64::INFINITY.into());
    let (now, horizon) = (after(query.now), after(query.horizon));
    let everything = query.horizon <= query.now;

    let next = if everything {
        None
    } else {
        let between = IdbKeyRange::bound_with_lower_open(&now, &horizon, true)?;
        Some(index.open_key_cursor_with_range(&between)?)
    };
    let mut scans = if everything {
        vec![Scan::new(&index, key_of, Array::new(), Array::of1(&Array::new()))]
    } else {
        vec![
            Scan::new(&index, key_of, horizon, Array::of1(&Array::new())),
            Scan::new(&index, key_of, Array::new(), now),
        ]
    };

    let mut due = Due::default();
    let mut room = u64::from(query.max_bytes);
    'full: for scan in &mut scans {
        while let Some(request) = scan.ask(BATCH.min(query.max_items.saturating_add(1)))? {
            transaction.succeeded(&request).await?;
            for record in scan.take(&request, unreadable)? {
                let size = record.content.bytes.len() as u64;
                let fits = size <= room || due.records.is_empty();
                if due.records.len() as u64 >= u64::from(query.max_items) || !fits {
                    due.more = true;
                    break 'full;
                }
                room = room.saturating_sub(size);
                due.records.push(record);
            }
        }
    }
    if let Some(next) = next {
        // Asked for before the scans, so it has succeeded before them.
        due.next = first_time(&next)?;
    }
    Ok(due)
}

pub(super) async fn list(
    transaction: &Transaction,
    query: &ListQuery,
    unreadable: Unreadable<'_>,
) -> Result<Page, Fault> {
    let index = transaction.records()?.index(BY_STATE)?;
    let states: &[State] = match query.filter {
        Filter::All => &[State::Waiting, State::Parked, State::Settled],
        Filter::Pending => &[State::Waiting, State::Parked],
        Filter::Synced => &[State::Settled],
        Filter::Parked => &[State::Parked],
    };
    let key_of = |row: &Row| Array::of3(&row.kind(), &row.state(), &row.newness());
    let mut scans = Vec::new();
    for state in states {
        let key = |newness: f64| Array::of3(&query.kind.as_str().into(), &state.number().into(), &newness.into());
        let before = query.before.map_or(f64::NEG_INFINITY, |before| -nearest(before));
        scans.push((Scan::new(&index, key_of, key(before), key(1.0)), Vec::new()));
    }

    // One more than fit tells whether there are more.
    let wanted = query.limit.saturating_add(1);
    loop {
        let mut asked = Vec::new();
        for (scan, records) in &mut scans {
            let missing = wanted.saturating_sub(u32::try_from(records.len()).unwrap_or(u32::MAX));
            if missing > 0
                && let Some(request) = scan.ask(missing)?
            {
                asked.push((request, scan, records));
            }
        }
        let Some((last, ..)) = asked.last() else { break };
        transaction.succeeded(last).await?;
        for (request, scan, records) in asked {
            records.extend(scan.take(&request, unreadable)?);
        }
    }

    let mut records: Vec<Record> = scans.into_iter().flat_map(|(_, records)| records).collect();
    records.sort_unstable_by_key(|record| std::cmp::Reverse(record.order));
    let limit = usize::try_from(query.limit).unwrap_or(usize::MAX);
    let more = records.len() > limit;
    records.truncate(limit);
    Ok(Page { records, more })
}

/// A way through a part of an index, several rows at a time.
struct Scan<'a, K> {
    index: &'a IdbIndex,
    key_of: K,
    after: Array,
    until: Array,
    asked: u32,
    over: bool,
}

impl<'a, K: Fn(&Row) -> Array> Scan<'a, K> {
    fn new(index: &'a IdbIndex, key_of: K, after: Array, until: Array) -> Self {
        Self { index, key_of, after, until, asked: 0, over: false }
    }

    /// Asks for the next rows, unless there are none.
    fn ask(&mut self, limit: u32) -> Result<Option<IdbRequest>, Fault> {
        if self.over {
            return Ok(None);
        }
        self.asked = limit;
        let range = IdbKeyRange::bound_with_lower_open(&self.after, &self.until, true)?;
        Ok(Some(self.index.get_all_with_key_and_limit(&range, limit)?))
    }

    /// The rows that were asked for.
    fn take(&mut self, request: &IdbRequest, unreadable: Unreadable<'_>) -> Result<Vec<Record>, Fault> {
        let rows: Array = request.result()?.unchecked_into();
        self.over = rows.length() < self.asked;
        if rows.length() > 0 {
            self.after = (self.key_of)(rows.get(rows.length() - 1).unchecked_ref());
        }
        Ok(rows.iter().filter_map(|row| read(row.unchecked_ref(), unreadable)).collect())
    }
}

fn read(row: &Row, unreadable: Unreadable<'_>) -> Option<Record> {
    decode(row).map_err(|flaw| unreadable(row, flaw)).ok()
}

fn first_time(cursor: &IdbRequest) -> Result<Option<Time>, Fault> {
    let cursor = cursor.result()?;
    if cursor.is_null() {
        return Ok(None);
    }
    let key: Array = cursor.unchecked_into::<IdbCursor>().key()?.unchecked_into();
    Ok(key.get(0).as_f64().map(|time| Time(whole_from(time))))
}
