//! Keys, well and badly written.

use uuid::Uuid;

/// A key as it goes over the wire.
#[derive(Debug, Clone)]
pub(crate) struct Key {
    /// What `{key}` stands for.
    pub(crate) text: String,
    /// The header's lines: another name than the profile's, and the bytes.
    pub(crate) lines: Vec<(Option<String>, Vec<u8>)>,
}

impl Key {
    /// A new one.
    pub(crate) fn new() -> Self {
        Self::text(&Uuid::new_v4().to_string())
    }

    /// This text, bare.
    pub(crate) fn text(text: &str) -> Self {
        Self { text: text.to_owned(), lines: vec![(None, text.as_bytes().to_vec())] }
    }

    /// The same in quotes.
    pub(crate) fn quoted(&self) -> Self {
        Self { text: self.text.clone(), lines: vec![(None, format!("\"{}\"", self.text).into_bytes())] }
    }

    /// The same name of the operation, with other lines in the header; none at all is no header.
    pub(crate) fn written(&self, lines: &[&[u8]]) -> Self {
        Self { text: self.text.clone(), lines: lines.iter().map(|line| (None, line.to_vec())).collect() }
    }

    /// The same under another header.
    pub(crate) fn under(&self, header: &str) -> Self {
        let lines = self.lines.iter().map(|(_, line)| (Some(header.to_owned()), line.clone())).collect();
        Self { text: self.text.clone(), lines }
    }

    /// As it is shown; `None` without one.
    pub(crate) fn shown(&self) -> Option<String> {
        if self.lines.is_empty() {
            return None;
        }
        let one = |(header, line): &(Option<String>, Vec<u8>)| {
            let text = String::from_utf8_lossy(line);
            let plain: String = text.chars().take(60).flat_map(char::escape_debug).collect();
            let cut = if text.chars().count() > 60 { format!("… ({} bytes)", line.len()) } else { String::new() };
            let header = header.as_ref().map(|name| format!("{name}: ")).unwrap_or_default();
            format!("{header}{plain}{cut}")
        };
        Some(self.lines.iter().map(one).collect::<Vec<_>>().join(" and "))
    }
}
