//! A body as text: decoded from its charset, and put into Unicode's composed form as it comes.

use encoding_rs::{CoderResult, Decoder, Encoding, UTF_8};
use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::canonical_combining_class;

/// How much of a body is looked at for a charset that it names inside.
const SNIFFED_BYTES: usize = 1_024;

/// How long a run of combining characters is kept together; a longer one is no text.
const MAX_PENDING_BYTES: usize = 4 * 1_024;

/// Returns a text in composed form.
pub(super) fn composed(text: &str) -> String {
    text.nfc().collect()
}

/// Turns bytes into composed text.
pub(super) struct TextStream {
    declared: Option<&'static Encoding>,
    may_be_html: bool,
    sniffed: Vec<u8>,
    decoder: Option<Decoder>,
    /// Text whose last character may still change with what follows.
    pending: String,
}

impl TextStream {
    pub(super) fn new(content_type: &str) -> Self {
        let lower = content_type.to_ascii_lowercase();
        let charset = lower.split(';').skip(1).find_map(|part| part.trim().strip_prefix("charset="));
        let label = charset.map(|label| label.trim_matches(['"', '\'', ' ']));
        Self {
            declared: label.and_then(|label| Encoding::for_label(label.as_bytes())),
            may_be_html: lower.is_empty() || lower.contains("html") || lower.contains("xml"),
            sniffed: Vec::new(),
            decoder: None,
            pending: String::new(),
        }
    }

    pub(super) fn push(&mut self, bytes: &[u8], out: &mut dyn FnMut(&str)) {
        if self.decoder.is_some() {
            return self.decode(bytes, false, out);
        }
        self.sniffed.extend_from_slice(bytes);
        if self.sniffed.len() >= SNIFFED_BYTES {
            self.choose();
            let sniffed = std::mem::take(&mut self.sniffed);
            self.decode(&sniffed, false, out);
        }
    }

    pub(super) fn finish(&mut self, out: &mut dyn FnMut(&str)) {
        if self.decoder.is_none() {
            self.choose();
        }
        let sniffed = std::mem::take(&mut self.sniffed);
        self.decode(&sniffed, true, out);
        out(&composed(&std::mem::take(&mut self.pending)));
    }

    /// A byte order mark goes before the header (which the decoder sees to), and that before the document.
    fn choose(&mut self) {
        let head = self.sniffed.get(..SNIFFED_BYTES).unwrap_or(&self.sniffed);
        let inside = if self.may_be_html { charset_inside(head) } else { None };
        let encoding = self.declared.or(inside).unwrap_or(UTF_8);
        self.decoder = Some(encoding.new_decoder());
    }

    fn decode(&mut self, mut bytes: &[u8], is_last: bool, out: &mut dyn FnMut(&str)) {
        let Some(mut decoder) = self.decoder.take() else { return };
        let mut text = String::with_capacity(4 * 1_024);
        loop {
            let (result, read, _) = decoder.decode_to_string(bytes, &mut text, is_last);
            bytes = bytes.get(read..).unwrap_or_default();
            self.compose(&text, out);
            text.clear();
            if result == CoderResult::InputEmpty {
                break;
            }
        }
        // A decoder that has seen the end must not be asked again.
        self.decoder = (!is_last).then_some(decoder);
    }

    /// Gives out what no later character can change: everything before the last character that begins anew.
    fn compose(&mut self, text: &str, out: &mut dyn FnMut(&str)) {
        if self.pending.is_empty() && text.is_ascii() {
            // The last character could be composed with an accent that follows.
            let (settled, last) = text.split_at(text.len().saturating_sub(1));
            out(settled);
            self.pending.push_str(last);
            return;
        }
        self.pending.push_str(text);
        let begins_anew = |c: char| canonical_combining_class(c) == 0 && !is_joining(c);
        let settled =
            self.pending.char_indices().rev().find(|(_, c)| begins_anew(*c)).map_or(0, |(at, _)| at);
        let settled =
            if self.pending.len() > MAX_PENDING_BYTES && settled == 0 { self.pending.len() } else { settled };
        let rest = self.pending.split_off(settled);
        out(&composed(&std::mem::replace(&mut self.pending, rest)));
    }
}

/// Characters that begin nothing anew although they are no accents: the later letters of a Korean syllable, and
/// vowel signs that are composed with what is before them.
fn is_joining(c: char) -> bool {
    matches!(c, '\u{1160}'..='\u{11ff}')
        || matches!(
            unicode_normalization::is_nfc_quick(std::iter::once(c)),
            unicode_normalization::IsNormalized::Maybe
        )
}

/// Finds `charset=` in the head of a document.
fn charset_inside(head: &[u8]) -> Option<&'static Encoding> {
    let lower = head.to_ascii_lowercase();
    let key = b"charset=";
    let at = lower.windows(key.len()).position(|window| window == key)? + key.len();
    let value = lower.get(at..)?;
    let value = value.strip_prefix(b"\"").or_else(|| value.strip_prefix(b"'")).unwrap_or(value);
    let end =
        value.iter().position(|byte| !(byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b':')));
    Encoding::for_label(value.get(..end.unwrap_or(value.len()))?)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(content_type: &str, pieces: &[&[u8]]) -> String {
        let mut stream = TextStream::new(content_type);
        let mut text = String::new();
        for piece in pieces {
            stream.push(piece, &mut |part| text.push_str(part));
        }
        stream.finish(&mut |part| text.push_str(part));
        text
    }

    #[test]
    fn charsets_come_from_the_mark_the_header_or_the_document() {
        assert_eq!(read("text/plain; charset=\"ISO-8859-1\"", &[b"gr\xfc\xdfe"]), "grüße");
        assert_eq!(read("text/plain; charset=gb18030", &[b"\xd6\xd0", b"\xce\xc4"]), "中文");
        assert_eq!(read("text/plain; charset=latin1", &[b"\xff\xfea\0\xfc\0"]), "aü", "the mark goes first");
        assert_eq!(
            read("text/html", &[b"<meta charset='windows-1252'>\x80"]),
            "<meta charset='windows-1252'>€"
        );
        assert_eq!(read("text/plain", &[b"charset=latin1 \xfc"]), "charset=latin1 \u{fffd}");
        assert_eq!(read("", &["ü".as_bytes()]), "ü");
    }

    #[test]
    fn an_accent_that_comes_in_the_next_piece_is_composed() {
        assert_eq!(read("text/plain", &[&[b'x'; 1_024], b"u", "\u{308}".as_bytes()]).get(1_024..), Some("ü"));
    }

    #[test]
    fn endless_accents_take_no_endless_memory() {
        let accents = "\u{308}".repeat(10_000);
        let mut stream = TextStream::new("text/plain");
        for _ in 0..100 {
            stream.push(accents.as_bytes(), &mut |_| ());
            assert!(stream.pending.len() <= MAX_PENDING_BYTES + accents.len());
        }
    }

    proptest! {
        #[test]
        fn pieces_compose_to_what_the_whole_composes_to(
            text in "[aeu\u{301}\u{308}\u{327}é한\u{1100}\u{1161}\u{11a8}가]{0,40}",
            cuts in proptest::collection::vec(1usize..5, 0..40),
        ) {
            let whole = format!("{}{text}", "x".repeat(1_024));
            let mut pieces = Vec::new();
            let (head, mut rest) = whole.as_bytes().split_at(1_024);
            pieces.push(head);
            for cut in cuts {
                let (piece, after) = rest.split_at(cut.min(rest.len()));
                pieces.push(piece);
                rest = after;
            }
            pieces.push(rest);
            prop_assert_eq!(read("text/plain", &pieces), composed(&whole));
        }
    }
}
