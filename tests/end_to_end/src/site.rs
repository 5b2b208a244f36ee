//! The pages and the package from a plain web server: an app on a site of its own, with its backend elsewhere.

use anyhow::Result;
use axum::Router;
use tokio::{net::TcpListener, task::JoinHandle};
use tower_http::services::ServeDir;

use crate::root;

/// A site without any API.
pub struct Site {
    port: u16,
    task: JoinHandle<()>,
}

impl Site {
    /// Serves `pages/` and `pkg/` on a free port.
    ///
    /// # Errors
    /// When no port is free.
    pub async fn start() -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let port = listener.local_addr()?.port();
        let pages = ServeDir::new(root().join("tests/end_to_end/pages"));
        let router = Router::new().nest_service("/pkg", ServeDir::new(root().join("pkg"))).fallback_service(pages);
        let task = tokio::spawn(async move {
            let _ = axum::serve(listener, router).await;
        });
        Ok(Self { port, task })
    }

    /// Its origin.
    #[must_use]
    pub fn origin(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// An address in it.
    #[must_use]
    pub fn url(&self, path: &str) -> String {
        format!("{}/{path}", self.origin())
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        self.task.abort();
    }
}
