//! Where the backend is.

use std::io;
use std::sync::Arc;

use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_rustls::rustls::{ClientConfig, RootCertStore};
use url::{Host, Url};

use super::Socket;

/// Where a backend is.
#[derive(Clone)]
pub struct Target {
    url: Url,
    address: (String, u16),
    pub(super) host_header: String,
    pub(super) prefix: String,
    tls: Option<(TlsConnector, ServerName<'static>)>,
}

/// A base URL that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TargetError {
    /// It is no URL.
    #[error("\"{url}\" is no address: {source}")]
    Url {
        /// What was given.
        url: String,
        /// Why.
        source: url::ParseError,
    },
    /// It is no `http` or `https` URL with a host.
    #[error(
        "\"{0}\" is no address of a backend: it begins with http:// or https://, without a user, query or fragment"
    )]
    Kind(String),
    /// The certificates of the system cannot be used.
    #[error("no certificates for https: {0}")]
    Tls(String),
}

impl Target {
    /// Reads a base URL such as `https://staging.example/app`.
    ///
    /// # Errors
    /// When it is none.
    pub fn new(base: &str) -> Result<Self, TargetError> {
        let url = Url::parse(base).map_err(|source| TargetError::Url { url: base.to_owned(), source })?;
        let kind = || TargetError::Kind(base.to_owned());
        let plain = url.username().is_empty() && url.password().is_none();
        if !plain || url.query().is_some() || url.fragment().is_some() {
            return Err(kind());
        }
        let (host, port) = (url.host().ok_or_else(kind)?, url.port_or_known_default().ok_or_else(kind)?);
        let name = match &host {
            Host::Domain(name) => (*name).to_owned(),
            Host::Ipv4(ip) => ip.to_string(),
            Host::Ipv6(ip) => ip.to_string(),
        };
        let tls = match url.scheme() {
            "http" => None,
            "https" => Some((
                connector()?,
                ServerName::try_from(name.clone()).map_err(|error| TargetError::Tls(error.to_string()))?,
            )),
            _ => return Err(kind()),
        };
        let host_header = url.port().map_or_else(|| host.to_string(), |port| format!("{host}:{port}"));
        let prefix = url.path().trim_end_matches('/').to_owned();
        Ok(Self { address: (name, port), host_header, prefix, tls, url })
    }

    /// The base URL.
    #[must_use]
    pub fn url(&self) -> &str {
        self.url.as_str()
    }

    /// The path, with its query, of an address that the backend gave, below the base URL; `None` if it is elsewhere.
    pub(crate) fn path_of(&self, address: &str) -> Option<String> {
        let url = self.url.join(address).ok()?;
        // Behind a proxy a backend may think that it is called without encryption, so the scheme is not compared.
        if url.host_str() != self.url.host_str() {
            return None;
        }
        let query = url.query().map(|query| format!("?{query}")).unwrap_or_default();
        Some(format!("{}{query}", url.path().strip_prefix(&self.prefix)?))
    }

    pub(super) async fn connect(&self) -> io::Result<Socket> {
        let stream = TcpStream::connect((self.address.0.as_str(), self.address.1)).await?;
        // The last byte of a request travels at once.
        stream.set_nodelay(true)?;
        match &self.tls {
            None => Ok(Socket::Plain(stream)),
            Some((connector, name)) => Ok(Socket::Tls(Box::new(connector.connect(name.clone(), stream).await?))),
        }
    }
}

fn connector() -> Result<TlsConnector, TargetError> {
    let mut roots = RootCertStore::empty();
    let found = rustls_native_certs::load_native_certs();
    let (added, _) = roots.add_parsable_certificates(found.certs);
    if added == 0 {
        let why = found.errors.first().map_or_else(|| "the system has none".to_owned(), ToString::to_string);
        return Err(TargetError::Tls(why));
    }
    let config = ClientConfig::builder().with_root_certificates(roots).with_no_client_auth();
    Ok(TlsConnector::from(Arc::new(config)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base_urls() {
        let target = Target::new("http://127.0.0.1:8000/app/").unwrap();
        assert_eq!((target.prefix.as_str(), target.host_header.as_str()), ("/app", "127.0.0.1:8000"));
        assert_eq!(target.path_of("http://127.0.0.1:8000/app/x/?page=2").as_deref(), Some("/x/?page=2"));
        assert_eq!(target.path_of("/app/x").as_deref(), Some("/x"));
        assert_eq!(target.path_of("http://elsewhere/app/x"), None);
        for wrong in ["nothing", "ftp://a/", "http://u@a/", "http://a/?q", "http://a/#f", "unix:/a"] {
            assert!(Target::new(wrong).is_err(), "{wrong}");
        }
    }
}
