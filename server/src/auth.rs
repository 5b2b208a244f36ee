//! Who asks: bearer tokens, stored hashed, each of one owner.

use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::HeaderMap;
use axum::http::header::AUTHORIZATION;
use axum::http::request::Parts;
use warifu::id::Owner;

use crate::app::App;
use crate::problem::Refusal;
use crate::repository::{StoreError, TokenHash};

/// The owner whose token the request carries.
pub(crate) struct Authenticated(pub(crate) Owner);

impl FromRequestParts<Arc<App>> for Authenticated {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, Refusal> {
        owner_of(&parts.headers, app).await?.map(Self).ok_or_else(Refusal::not_authenticated)
    }
}

/// The owner of the request's token, if it has a live one.
pub(crate) async fn owner_of(headers: &HeaderMap, app: &App) -> Result<Option<Owner>, StoreError> {
    let Some(token) = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok()).and_then(bearer) else {
        return Ok(None);
    };
    if let Some(owner) = app.demo.as_ref().and_then(|demo| demo.owner_of(token)) {
        return Ok(Some(owner));
    }
    app.repository.owner_of(TokenHash::of(token)).await
}

fn bearer(header: &str) -> Option<&str> {
    let (scheme, token) = header.split_once(' ')?;
    let token = token.trim();
    (scheme.eq_ignore_ascii_case("bearer") && !token.is_empty()).then_some(token)
}

/// Draws a new token: 256 random bits, told once and stored hashed.
///
/// # Errors
/// When the system has no randomness.
pub fn new_token() -> std::io::Result<String> {
    let mut bytes = [0_u8; 32];
    getrandom::fill(&mut bytes).map_err(std::io::Error::other)?;
    Ok(bytes.iter().fold(String::from("warifu_"), |text, byte| text + &format!("{byte:02x}")))
}
