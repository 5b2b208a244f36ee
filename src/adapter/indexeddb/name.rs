use js_sys::encode_uri_component;

/// The database of an owner on a backend. Neither part can run into the other: `encodeURIComponent` leaves no `@`.
#[must_use]
pub fn database_name(owner: &str, base_url: &str) -> String {
    let encode = |text: &str| String::from(encode_uri_component(text));
    format!("warifu:{}@{}", encode(owner), encode(base_url))
}
