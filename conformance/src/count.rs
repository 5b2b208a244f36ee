//! Counting rows.

use std::process::Stdio;

use serde_json::Value;
use tokio::process::Command;

use crate::bench::{Bench, Stop, Who, effect};
use crate::config::{Count, Escape, Listing, Resource, Template};
use crate::json;
use crate::record::Record;

/// The rows of one record.
#[derive(Debug)]
pub(crate) struct Rows {
    pub(crate) count: u64,
    /// As they are listed; a command lists nothing.
    pub(crate) records: Vec<Value>,
}

/// A listing with more pages has no end.
const PAGES: usize = 10_000;

impl Bench<'_> {
    /// The rows that an owner has of a record, whatever its content.
    pub(crate) async fn rows(&mut self, resource: &Resource, who: Who, record: &Record) -> Result<Rows, Stop> {
        let rows = match &resource.count {
            None => return Err(Stop::NotTested("needs [resource.count]".to_owned())),
            Some(Count::Command(command)) => self.rows_by_command(command, who, record).await?,
            Some(Count::Listing(listing)) => self.rows_by_listing(listing, who, record).await?,
        };
        self.write_down_step(
            &format!("count of {} of the owner {}", resource.name, who.name()),
            rows.count.to_string(),
        );
        Ok(rows)
    }

    /// That there are so many rows; `because` tells what it means if not.
    pub(crate) async fn expect_rows(
        &mut self,
        resource: &Resource,
        who: Who,
        record: &Record,
        expected: u64,
        because: impl FnOnce(&str) -> String,
    ) -> Result<(), Stop> {
        let rows = self.rows(resource, who, record).await?;
        if rows.count == expected { Ok(()) } else { effect(because(&counted(rows.count))) }
    }

    async fn rows_by_command(&mut self, command: &Template, who: Who, record: &Record) -> Result<Rows, Stop> {
        let text = command.render(&record.values(""), Escape::Plain);
        let mut shell = Command::new("sh");
        shell.arg("-c").arg(&text).env("WARIFU_OWNER", who.name()).stdin(Stdio::null()).kill_on_drop(true);
        let output = match tokio::time::timeout(self.deadline(), shell.output()).await {
            Ok(Ok(output)) => output,
            Ok(Err(error)) => {
                return effect(format!("the rows could not be counted: the command did not run: {error}"));
            }
            Err(_) => return effect("the rows could not be counted: the command did not end before the deadline"),
        };
        let printed = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        match printed.parse() {
            Ok(count) if output.status.success() => Ok(Rows { count, records: Vec::new() }),
            _ => effect(format!(
                "the rows could not be counted: the command ended with {} and printed \"{}\" {}",
                output.status,
                self.excerpt(&printed),
                self.excerpt(String::from_utf8_lossy(&output.stderr).trim()),
            )),
        }
    }

    async fn rows_by_listing(&mut self, listing: &Listing, who: Who, record: &Record) -> Result<Rows, Stop> {
        let mut values = record.values("");
        let wanted: Vec<(&String, String)> =
            listing.filter.iter().map(|(field, template)| (field, template.render(&values, Escape::Plain))).collect();
        let mut path = listing.path.render_path(&values);
        let mut records = Vec::new();
        for _ in 0..PAGES {
            let page = self.page(who, &path).await?;
            let Some(Value::Array(listed)) = json::at(&page, &listing.records) else {
                return effect(format!(
                    "the rows could not be counted: GET {path} has no array at \"{}\"",
                    listing.records
                ));
            };
            let counts = |found: &&Value| {
                wanted.iter().all(|(field, value)| json::at(found, field).map(json::plain).as_ref() == Some(value))
                    && !listing.deleted.as_ref().is_some_and(|field| is_set(json::at(found, field)))
            };
            records.extend(listed.iter().filter(counts).cloned());
            let Some(next) = next_page(listing, &page) else {
                return Ok(Rows { count: u64::try_from(records.len()).unwrap_or(u64::MAX), records });
            };
            let next = match &listing.next_path {
                Some(template) => {
                    values.cursor = next;
                    template.render_path(&values)
                }
                None => match self.target.path_of(&next) {
                    Some(path) => path,
                    None => {
                        return effect(format!("the rows could not be counted: the next page is elsewhere: {next}"));
                    }
                },
            };
            if next == path {
                return effect(format!("the rows could not be counted: the listing at {path} goes round in a circle"));
            }
            path = next;
        }
        effect("the rows could not be counted: the listing does not end")
    }

    async fn page(&mut self, who: Who, path: &str) -> Result<Value, Stop> {
        let call = self.call(who, "GET", path, None, None);
        let before = self.log.len();
        let answer = self.send(&call).await?;
        if answer.status == 200
            && let Ok(page) = serde_json::from_slice(&answer.body)
        {
            // A listing that was understood says nothing about the case.
            self.log.truncate(before);
            return Ok(page);
        }
        effect(format!(
            "the rows could not be counted: GET {path} was answered {} and no JSON of a listing",
            answer.status
        ))
    }
}

fn next_page(listing: &Listing, page: &Value) -> Option<String> {
    if let Some(more) = &listing.more
        && !is_set(json::at(page, more))
    {
        return None;
    }
    match json::at(page, listing.next.as_ref()?)? {
        Value::Null => None,
        value => Some(json::plain(value)).filter(|next| !next.is_empty()),
    }
}

fn is_set(value: Option<&Value>) -> bool {
    !matches!(value, None | Some(Value::Null | Value::Bool(false)))
}

/// A number of rows in words.
pub(crate) fn counted(count: u64) -> String {
    match count {
        0 => "no row".to_owned(),
        1 => "1 row".to_owned(),
        count => format!("{count} rows"),
    }
}
