//! Batches, and their results matched by id.

use serde_json::Value;

use crate::bench::{Bench, Call, Stop, Who, effect};
use crate::config::{Batch, Escape, Resource, Template};
use crate::http::Answer;
use crate::json;
use crate::key::Key;
use crate::record::Record;

/// One item of a batch.
#[derive(Debug, Clone)]
pub(crate) struct Item {
    pub(crate) record: Record,
    pub(crate) key: Key,
    pub(crate) body: String,
}

/// What a batch's answer says of one item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Verdict {
    /// The server's id, if it was given.
    pub(crate) id: Option<String>,
    pub(crate) status: String,
    pub(crate) whole: Value,
}

impl<'a> Bench<'a> {
    /// The batch and the resource whose rows it makes.
    pub(crate) fn batch(&mut self) -> Result<(&'a Batch, &'a Resource), Stop> {
        let none = |what: &str| Stop::NotTested(format!("needs {what}"));
        let batch = self.config.batch.as_ref().ok_or_else(|| none("[batch]"))?;
        let resource = self.config.resource.iter().find(|resource| resource.name == batch.resource);
        let resource = resource.ok_or_else(|| none("the [[resource]] of the batch"))?;
        self.resource = Some(resource.name.clone());
        if resource.count.is_none() { Err(none("[resource.count]")) } else { Ok((batch, resource)) }
    }

    pub(crate) fn item(&self, template: &Template) -> Item {
        self.item_of(template, self.minter.record(), Key::new())
    }

    pub(crate) fn item_of(&self, template: &Template, record: Record, key: Key) -> Item {
        let body = template.render(&record.values(&key.text), Escape::Json);
        Item { record, key, body }
    }

    pub(crate) fn items(&self, template: &Template, count: usize) -> Vec<Item> {
        (0..count).map(|_| self.item(template)).collect()
    }

    pub(crate) fn batch_call(&self, batch: &Batch, who: Who, items: &[&Item]) -> Call {
        let bodies: Vec<&str> = items.iter().map(|item| item.body.as_str()).collect();
        let body = format!("{{{}:[{}]}}", Value::from(batch.items.as_str()), bodies.join(","));
        let path = batch.path.render_path(&self.minter.record().values(""));
        let mut call = self.call(who, &batch.method, &path, None, Some(body));
        let keys: Vec<&str> = items.iter().take(4).map(|item| item.key.text.as_str()).collect();
        let more = if items.len() > 4 { " …" } else { "" };
        call.key = Some(format!("[{}{more}]", keys.join(" ")));
        call
    }

    /// Sends a batch until it is answered for good, and gives a verdict for each item.
    pub(crate) async fn sync(
        &mut self,
        batch: &Batch,
        resource: &Resource,
        who: Who,
        items: &[&Item],
        what: &str,
    ) -> Result<Vec<Verdict>, Stop> {
        let call = self.batch_call(batch, who, items);
        let answer = self.settle(&call).await?;
        self.verdicts(batch, resource, items, &answer, what).await
    }

    /// The verdict for each item, found by its id and never by its place.
    pub(crate) async fn verdicts(
        &mut self,
        batch: &Batch,
        resource: &Resource,
        items: &[&Item],
        answer: &Answer,
        what: &str,
    ) -> Result<Vec<Verdict>, Stop> {
        if !answer.is_success() {
            return self.refused_whole(resource, items, answer, what).await;
        }
        self.status_in(answer.status, &[200], what);
        let whole = answer.json();
        let Some(Value::Array(results)) = json::at(&whole, &batch.results) else {
            return effect(format!("{what} was answered {} without results at \"{}\"", answer.status, batch.results));
        };
        let named: Vec<(Option<String>, &Value)> = results
            .iter()
            .map(|result| (json::at(result, &batch.client_id).map(|id| json::plain(id).to_lowercase()), result))
            .collect();
        let known = |id: &Option<String>| id.as_ref().is_some_and(|id| items.iter().any(|item| item.key.text == *id));
        if results.len() == items.len() && !items.is_empty() && !named.iter().any(|(id, _)| known(id)) {
            return effect(format!(
                "the results of {what} do not name their items in \"{}\": they can be matched only by position, and one \
                 that is missing gives every later item another's id",
                batch.client_id
            ));
        }
        if let Some((id, _)) = named.iter().find(|(id, _)| !known(id)) {
            let id = id.clone().unwrap_or_else(|| "nothing".to_owned());
            return effect(format!("a result of {what} names {id}, which was not in the batch"));
        }
        let mut verdicts = Vec::with_capacity(items.len());
        for item in items {
            let mine: Vec<&Value> =
                named.iter().filter(|(id, _)| id.as_ref() == Some(&item.key.text)).map(|(_, result)| *result).collect();
            let ids: Vec<Option<String>> = mine.iter().map(|result| json::id_at(result, &batch.id)).collect();
            if ids.windows(2).any(|pair| pair[0] != pair[1]) {
                return effect(format!("two results of {what} give different ids to the item {}", item.key.text));
            }
            // One id twice in a batch has two results; the places of the two are those of the items.
            let before = verdicts.iter().zip(items).filter(|(_, other)| other.key.text == item.key.text).count();
            let Some(result) = mine.get(before).or(mine.first()) else {
                return effect(format!("the answer to {what} has no result for the item {}", item.key.text));
            };
            let status = json::at(result, &batch.status).map(json::plain).unwrap_or_default();
            verdicts.push(Verdict { id: json::id_at(result, &batch.id), status, whole: (*result).clone() });
        }
        if results.len() != items.len() {
            self.differs(format!("{what} of {} items was answered with {} results", items.len(), results.len()));
        }
        Ok(verdicts)
    }

    async fn refused_whole<T>(
        &mut self,
        resource: &Resource,
        items: &[&Item],
        answer: &Answer,
        what: &str,
    ) -> Result<T, Stop> {
        let (mut missing, mut seen) = (0, Vec::new());
        for item in items {
            if !seen.contains(&item.key.text) {
                seen.push(item.key.text.clone());
                missing += usize::from(self.rows(resource, Who::First, &item.record).await?.count == 0);
            }
        }
        if missing == 0 {
            return effect(format!(
                "{what} was refused as a whole with {}, though all its items have their rows: no acknowledgement ever \
                 comes",
                answer.status
            ));
        }
        effect(format!(
            "{what} was refused as a whole with {}, and {missing} of its {} items have no row: one item costs the others",
            answer.status,
            seen.len()
        ))
    }

    /// That an item was acknowledged with an id; judges its word.
    pub(crate) fn took(&mut self, verdict: &Verdict, expected: &[&str], what: &str) -> Result<String, Stop> {
        self.word(verdict, expected, what);
        match &verdict.id {
            Some(id) => Ok(id.clone()),
            None => effect(format!("{what} was answered \"{}\" without an id", verdict.status)),
        }
    }

    pub(crate) fn word(&mut self, verdict: &Verdict, expected: &[&str], what: &str) {
        self.judged = true;
        if !expected.contains(&verdict.status.as_str()) {
            self.differs(format!(
                "{what} was called \"{}\" where \"{}\" is expected",
                verdict.status,
                expected.join("\" or \"")
            ));
        }
    }

    /// That each item has one row of the first owner.
    pub(crate) async fn one_row_each(&mut self, resource: &Resource, items: &[&Item], what: &str) -> Result<(), Stop> {
        for item in items {
            self.expect_rows(resource, Who::First, &item.record, 1, |rows| {
                format!("after {what} there is {rows} of the item {}", item.key.text)
            })
            .await?;
        }
        Ok(())
    }
}
