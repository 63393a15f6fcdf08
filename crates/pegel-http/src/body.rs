//! Reading a body: decoded, bounded, and looked through as it comes.
//!
//! No more of it is held than is asked to be kept; the rest is only looked at. What a compressed body
//! unpacks to counts against the limit, so that a small bomb cannot become a large one.

mod decode;
mod search;
mod text;

use std::io;

use bytes::Bytes;
use http::HeaderMap;
use http::header::{CONTENT_ENCODING, CONTENT_TYPE};

use crate::body::decode::Decoder;
use crate::body::search::Search;
use crate::body::text::{TextStream, composed};
use crate::error::Error;
use crate::expect::{Found, How, TextCheck};
use crate::json;
use crate::request::MAX_KEPT_BYTES;

/// What reading came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Read {
    pub(crate) kept: Bytes,
    pub(crate) wire_bytes: u64,
    pub(crate) body_bytes: u64,
    pub(crate) is_whole: bool,
    pub(crate) found: Vec<Option<Found>>,
}

/// Takes a body piece by piece.
pub(crate) struct Reader {
    decoder: Decoder,
    encoding: String,
    wire_bytes: u64,
    limit: u64,
    kept_bytes: usize,
    checks: Vec<TextCheck>,
}

/// Whether more of the body is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum More {
    Wanted,
    Enough,
}

impl Reader {
    /// Makes a reader for a body with these headers.
    ///
    /// # Errors
    /// `body_undecodable` for an encoding that is not known.
    pub(crate) fn new(
        headers: &HeaderMap,
        limit: u64,
        kept_bytes: usize,
        checks: &[TextCheck],
    ) -> Result<Self, Error> {
        let header = |name| headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let encoding = header(CONTENT_ENCODING).trim().to_ascii_lowercase();
        let looks_for_text = checks.iter().any(|check| check.how != How::ContainsRaw);
        // Compact JSON is made of the whole body, so that much is kept while it is read.
        let kept_limit = if looks_for_text { MAX_KEPT_BYTES } else { kept_bytes };
        let intake = Intake {
            limit,
            body_bytes: 0,
            is_over: false,
            kept: Vec::new(),
            kept_limit,
            raw: checks.iter().map(|check| Search::new(check.text.as_bytes())).collect(),
            text: looks_for_text.then(|| TextStream::new(header(CONTENT_TYPE))),
            in_text: checks.iter().map(|check| Search::new(composed(&check.text).as_bytes())).collect(),
        };
        let several = headers.get_all(CONTENT_ENCODING).iter().count() > 1;
        let decoder = if several { None } else { Decoder::new(&encoding, intake) };
        let decoder = decoder.ok_or_else(|| Error::BodyUndecodable { encoding: encoding.clone() })?;
        Ok(Self { decoder, encoding, wire_bytes: 0, limit, kept_bytes, checks: checks.to_vec() })
    }

    /// Takes a piece as it came over the network.
    ///
    /// # Errors
    /// `body_undecodable`.
    pub(crate) fn push(&mut self, piece: &[u8]) -> Result<More, Error> {
        self.wire_bytes += u64::try_from(piece.len()).unwrap_or(u64::MAX);
        let taken = self.decoder.push(piece);
        if self.decoder.intake().is_over || self.wire_bytes > self.limit {
            return Ok(More::Enough);
        }
        taken.map_err(|_| self.undecodable())?;
        Ok(More::Wanted)
    }

    pub(crate) fn wire_bytes(&self) -> u64 {
        self.wire_bytes
    }

    /// Ends a body that came to its end, or of which enough was read.
    ///
    /// # Errors
    /// `body_incomplete` if it came to its end in the middle of what it decodes to.
    pub(crate) fn finish(mut self, is_ended: bool) -> Result<Read, Error> {
        if is_ended && self.wire_bytes > 0 {
            let finished = self.decoder.finish();
            if finished.is_err() && !self.decoder.intake().is_over {
                return Err(Error::BodyIncomplete { received_bytes: self.wire_bytes });
            }
        }
        let wire_bytes = self.wire_bytes;
        let intake = self.decoder.intake();
        intake.end_text();
        let is_whole = is_ended && !intake.is_over;
        let kept = std::mem::take(&mut intake.kept);
        let is_all_kept = is_whole && u64::try_from(kept.len()) == Ok(intake.body_bytes);
        let compact = if is_all_kept { json::compact_body(&kept) } else { None };
        let found = |(index, check): (usize, &TextCheck)| {
            let is_found = |searches: &[Search]| searches.get(index).is_some_and(Search::is_found);
            let is_raw_only = check.how == How::ContainsRaw;
            if is_found(&intake.raw) {
                Some(Found::Raw)
            } else if !is_raw_only && is_found(&intake.in_text) {
                Some(Found::Text)
            } else if !is_raw_only && compact.as_ref().is_some_and(|compact| compact.contains(&check.text)) {
                Some(Found::JsonCompact)
            } else {
                None
            }
        };
        let found = self.checks.iter().enumerate().map(found).collect();
        let body_bytes = intake.body_bytes;
        let mut kept = Bytes::from(kept);
        kept.truncate(self.kept_bytes);
        Ok(Read { kept, wire_bytes, body_bytes, is_whole, found })
    }

    fn undecodable(&self) -> Error {
        Error::BodyUndecodable { encoding: self.encoding.clone() }
    }
}

/// Where decoded bytes go.
#[derive(Default)]
struct Intake {
    limit: u64,
    body_bytes: u64,
    is_over: bool,
    kept: Vec<u8>,
    kept_limit: usize,
    raw: Vec<Search>,
    text: Option<TextStream>,
    in_text: Vec<Search>,
}

impl Intake {
    fn end_text(&mut self) {
        let in_text = &mut self.in_text;
        if let Some(text) = &mut self.text {
            text.finish(&mut |part| in_text.iter_mut().for_each(|search| search.push(part.as_bytes())));
        }
    }
}

impl io::Write for Intake {
    /// Takes what the limit allows; an error ends the decoder, which would unpack on and on.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let left = usize::try_from(self.limit - self.body_bytes).unwrap_or(usize::MAX);
        let taken = bytes.get(..left).unwrap_or(bytes);
        self.body_bytes += u64::try_from(taken.len()).unwrap_or(u64::MAX);
        self.raw.iter_mut().for_each(|search| search.push(taken));
        let in_text = &mut self.in_text;
        if let Some(text) = &mut self.text {
            text.push(taken, &mut |part| in_text.iter_mut().for_each(|search| search.push(part.as_bytes())));
        }
        let room = self.kept_limit.saturating_sub(self.kept.len());
        self.kept.extend_from_slice(taken.get(..room).unwrap_or(taken));
        if taken.len() < bytes.len() {
            self.is_over = true;
            return Err(io::Error::other("more than is read of a body"));
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests;
