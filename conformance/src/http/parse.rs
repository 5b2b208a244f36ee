//! From bytes to an answer.

use serde_json::Value;

use super::NoAnswer;

/// The longest answer.
pub(super) const LIMIT: usize = 32 << 20;

/// An answer.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(given, _)| given.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    /// All lines of a header as one list.
    pub(crate) fn header_list(&self, name: &str) -> String {
        let lines: Vec<_> = self
            .headers
            .iter()
            .filter(|(given, _)| given.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.as_str())
            .collect();
        lines.join(",")
    }

    pub(crate) fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    pub(crate) fn is_refusal(&self) -> bool {
        (400..500).contains(&self.status)
    }

    /// The body as JSON; null if it is none.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or(Value::Null)
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

/// The answer, once it is whole; `ended` tells that nothing more comes.
pub(super) fn whole(bytes: &[u8], ended: bool) -> Result<Option<Answer>, NoAnswer> {
    let malformed = |error: httparse::Error| NoAnswer::Malformed(error.to_string());
    let mut rest = bytes;
    loop {
        let mut headers = [httparse::EMPTY_HEADER; 128];
        let mut response = httparse::Response::new(&mut headers);
        let httparse::Status::Complete(length) = response.parse(rest).map_err(malformed)? else {
            return Ok(None);
        };
        rest = &rest[length..];
        let status = response.code.unwrap_or_default();
        if (100..200).contains(&status) {
            continue;
        }
        let headers: Vec<_> = response
            .headers
            .iter()
            .map(|header| (header.name.to_owned(), String::from_utf8_lossy(header.value).into_owned()))
            .collect();
        let mut answer = Answer { status, headers, body: Vec::new() };
        let Some(body) = body(&answer, rest, ended)? else { return Ok(None) };
        answer.body = body;
        return Ok(Some(answer));
    }
}

fn body(answer: &Answer, rest: &[u8], ended: bool) -> Result<Option<Vec<u8>>, NoAnswer> {
    if matches!(answer.status, 204 | 304) {
        return Ok(Some(Vec::new()));
    }
    if answer.header_list("transfer-encoding").to_ascii_lowercase().contains("chunked") {
        return chunks(rest);
    }
    if let Some(length) = answer.header("content-length") {
        let length: usize =
            length.trim().parse().map_err(|_| NoAnswer::Malformed("Content-Length is no number".to_owned()))?;
        return Ok(rest.get(..length).map(<[u8]>::to_vec));
    }
    Ok(ended.then(|| rest.to_vec()))
}

fn chunks(mut rest: &[u8]) -> Result<Option<Vec<u8>>, NoAnswer> {
    let mut body = Vec::new();
    loop {
        let size = httparse::parse_chunk_size(rest);
        let Ok(httparse::Status::Complete((start, length))) = size else {
            return match size {
                Ok(_) => Ok(None),
                Err(_) => Err(NoAnswer::Malformed("a chunk has no size".to_owned())),
            };
        };
        if length == 0 {
            return Ok(Some(body));
        }
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        let Some(chunk) = rest.get(start..start.saturating_add(length)) else { return Ok(None) };
        body.extend_from_slice(chunk);
        let Some(after) = rest.get(start + length + 2..) else { return Ok(None) };
        rest = after;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_taken_when_it_is_whole() {
        let length = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\n{}";
        let chunked = b"HTTP/1.1 201 Created\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\n1\r\n}\r\n0\r\n\r\n";
        for bytes in [&length[..], &chunked[..]] {
            let answer = whole(bytes, false).unwrap().unwrap();
            assert_eq!((answer.status, answer.text().as_str()), (201, "{}"));
        }
        // But for the last chunk's end, which says nothing.
        for cut in 0..length.len() {
            assert!(whole(&length[..cut], true).unwrap().is_none(), "{cut}");
        }
        for cut in 0..chunked.len() - 3 {
            assert!(whole(&chunked[..cut], true).unwrap().is_none(), "{cut}");
        }
        let until_end = b"HTTP/1.0 200 OK\r\n\r\nabc";
        assert!(whole(until_end, false).unwrap().is_none());
        assert_eq!(whole(until_end, true).unwrap().unwrap().text(), "abc");
        assert!(whole(b"SSH-2.0-x\r\n\r\n", true).is_err());
    }
}
