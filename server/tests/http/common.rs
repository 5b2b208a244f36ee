//! Starting servers and asking them.

use reqwest::{Client, Method, RequestBuilder, Response};
use serde_json::Value;
use warifu_server::{Builder, Database, Running, Server};

pub(crate) const TOKEN: &str = "token-of-aki";
pub(crate) const OTHER_TOKEN: &str = "token-of-haru";

/// A server with two owners, `aki` and `haru`.
pub(crate) fn builder(database: Database) -> Builder {
    Server::builder()
        .database(database)
        .token("aki".parse().unwrap(), TOKEN)
        .token("haru".parse().unwrap(), OTHER_TOKEN)
}

pub(crate) async fn in_memory() -> (Running, Api) {
    let server = builder(Database::memory()).start().await.unwrap();
    let api = Api::new(&server.url(), TOKEN);
    (server, api)
}

/// One owner's way to a server.
#[derive(Clone)]
pub(crate) struct Api {
    pub(crate) url: String,
    pub(crate) token: String,
    pub(crate) client: Client,
}

impl Api {
    pub(crate) fn new(url: &str, token: &str) -> Self {
        Self { url: url.to_owned(), token: token.to_owned(), client: Client::new() }
    }

    pub(crate) fn with_token(&self, token: &str) -> Self {
        Self { token: token.to_owned(), ..self.clone() }
    }

    pub(crate) fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.client.request(method, format!("{}{path}", self.url)).bearer_auth(&self.token)
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        Answer::of(self.request(Method::GET, path).send().await.unwrap()).await
    }

    pub(crate) fn post(&self, body: impl Into<reqwest::Body>) -> RequestBuilder {
        self.request(Method::POST, "api/memories/sync").header("content-type", "application/json").body(body)
    }

    pub(crate) async fn sync(&self, items: &[String]) -> Answer {
        Answer::of(self.post(batch(items)).send().await.unwrap()).await
    }

    /// Sends one operation under a key.
    pub(crate) async fn keyed(&self, method: Method, path: &str, key: &str, body: impl Into<reqwest::Body>) -> Answer {
        let request = self.request(method, path).header("idempotency-key", key);
        Answer::of(request.header("content-type", "application/json").body(body).send().await.unwrap()).await
    }

    /// Creates one of a resource.
    pub(crate) async fn create(&self, resource: &str, key: &str, body: &str) -> Answer {
        self.keyed(Method::POST, &format!("api/{resource}/"), key, body.to_owned()).await
    }

    /// Gives a memory another title.
    pub(crate) async fn edit(&self, memory_id: i64, key: &str, base: u64, title: &str) -> Answer {
        let body = serde_json::json!({"title": title, "body": "edited", "baseRevision": base}).to_string();
        self.keyed(Method::PUT, &format!("api/memories/{memory_id}"), key, body).await
    }

    pub(crate) async fn delete(&self, memory_id: i64, key: &str) -> Answer {
        self.keyed(Method::DELETE, &format!("api/memories/{memory_id}"), key, "").await
    }

    /// The results of a batch that is answered with 200.
    pub(crate) async fn results(&self, items: &[String]) -> Vec<Value> {
        let answer = self.sync(items).await;
        assert_eq!(answer.status, 200, "{}", answer.text);
        let results = answer.json()["results"].as_array().unwrap().clone();
        assert_eq!(results.len(), items.len(), "exactly one result for each item");
        results
    }

    pub(crate) async fn statuses(&self, items: &[String]) -> Vec<String> {
        self.results(items).await.iter().map(|result| result["status"].as_str().unwrap().to_owned()).collect()
    }

    /// All records, page by page.
    pub(crate) async fn records(&self) -> Vec<Value> {
        let (mut records, mut after) = (Vec::new(), String::new());
        loop {
            let page = self.get(&format!("api/memories?after={after}")).await.json();
            records.extend(page["records"].as_array().unwrap().iter().cloned());
            page["next"].as_str().unwrap().clone_into(&mut after);
            if page["hasMore"] == false {
                return records;
            }
        }
    }
}

/// An answer, read whole.
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: reqwest::header::HeaderMap,
    pub(crate) text: String,
}

impl Answer {
    pub(crate) async fn of(response: Response) -> Self {
        Self {
            status: response.status().as_u16(),
            headers: response.headers().clone(),
            text: response.text().await.unwrap(),
        }
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap()
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    /// Checks that this is a problem of this status and code.
    pub(crate) fn assert_problem(&self, status: u16, code: &str) {
        assert_eq!(self.status, status, "{}", self.text);
        assert_eq!(self.header("content-type"), "application/problem+json");
        let problem = self.json();
        assert_eq!(problem["code"], code, "{}", self.text);
        assert_eq!(problem["status"], status);
        assert!(problem["detail"].as_str().is_some_and(|detail| detail.len() > 10), "{}", self.text);
    }
}

pub(crate) fn batch(items: &[String]) -> String {
    format!("{{\"items\":[{}]}}", items.join(","))
}

/// The n-th id of tests.
pub(crate) fn id(n: u32) -> String {
    format!("{n:08x}-0000-4000-8000-00000000abcd")
}

pub(crate) fn item(n: u32, title: &str) -> String {
    let title = serde_json::to_string(title).unwrap();
    format!(
        r#"{{"clientMemoryId":"{}","title":{title},"body":"body of {n}","createdAt":"2026-11-30T12:00:00Z"}}"#,
        id(n)
    )
}

pub(crate) fn items(range: std::ops::Range<u32>) -> Vec<String> {
    range.map(|n| item(n, &format!("memory {n}"))).collect()
}

pub(crate) fn memory_ids(results: &[Value]) -> Vec<i64> {
    results.iter().map(|result| result["memory_id"].as_i64().unwrap()).collect()
}
