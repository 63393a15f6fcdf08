//! Bodies in all encodings, whole, cut off and hostile.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};
use http::HeaderValue;
use proptest::prelude::*;

use super::*;

fn headers(encoding: &str, content_type: &str) -> HeaderMap {
    let mut headers = HeaderMap::new();
    if !encoding.is_empty() {
        headers.insert(CONTENT_ENCODING, HeaderValue::from_str(encoding).unwrap());
    }
    headers.insert(CONTENT_TYPE, HeaderValue::from_str(content_type).unwrap());
    headers
}

fn check(text: &str, how: How) -> TextCheck {
    TextCheck { text: text.to_owned(), how }
}

/// Reads a body in pieces of a size, as the exchange does.
fn read(
    headers: &HeaderMap,
    body: &[u8],
    piece: usize,
    limit: u64,
    checks: &[TextCheck],
) -> Result<Read, &'static str> {
    let code = |error: Error| error.code().as_str();
    let mut reader = Reader::new(headers, limit, 1_000, checks).map_err(code)?;
    for piece in body.chunks(piece) {
        if reader.push(piece).map_err(code)? == More::Enough {
            return reader.finish(false).map_err(code);
        }
    }
    reader.finish(true).map_err(code)
}

fn packed(encoding: &str, body: &[u8]) -> Vec<u8> {
    match encoding {
        "gzip" => {
            let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
            encoder.write_all(body).unwrap();
            encoder.finish().unwrap()
        }
        "zlib" => {
            let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
            encoder.write_all(body).unwrap();
            encoder.finish().unwrap()
        }
        "raw" => {
            let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
            encoder.write_all(body).unwrap();
            encoder.finish().unwrap()
        }
        "zstd" => zstd::encode_all(body, 3).unwrap(),
        "br" if body.len() > 10_000 => BROTLI_BOMB.to_vec(),
        "br" => BROTLI.to_vec(),
        _ => body.to_vec(),
    }
}

/// What the encodings are called in a header.
const ENCODINGS: [(&str, &str); 6] =
    [("", ""), ("gzip", "gzip"), ("zlib", "deflate"), ("raw", "deflate"), ("zstd", "zstd"), ("br", "br")];

/// `before "status":"ok" after` fifty times, as Node's brotli packs it.
const BROTLI: &[u8] = &[
    0x1b, 0x13, 0x05, 0xf8, 0x8d, 0x93, 0x5c, 0xcd, 0x75, 0x5e, 0x8a, 0xac, 0xbd, 0x15, 0x88, 0x4e, 0x17,
    0xc2, 0xc8, 0x2c, 0x86, 0xe9, 0x0d, 0x52, 0x60, 0x43, 0x1a, 0xfc, 0x45, 0x75, 0x34, 0x2d, 0x02,
];

/// Fifty million zeros, as Node's brotli packs them.
const BROTLI_BOMB: &[u8] = &[
    0xcb, 0xff, 0xff, 0x3f, 0xf8, 0x27, 0x00, 0xe2, 0xb1, 0x40, 0x20, 0xf7, 0xfe, 0x8f, 0xff, 0xff, 0x7f,
    0xf0, 0x4f, 0x00, 0xc4, 0x61, 0x11, 0x80, 0xee, 0xfd, 0x1f, 0xff, 0xff, 0xff, 0xe0, 0x9f, 0x00, 0x88,
    0xc3, 0x02, 0x00, 0xdd, 0xfb, 0x3f, 0xfe, 0xff, 0xff, 0xc1, 0x3f, 0x01, 0x10, 0x87, 0x05, 0x00, 0xba,
    0xf7, 0x7f, 0xfc, 0xff, 0xff, 0x83, 0x7f, 0x02, 0x20, 0x0e, 0x0b, 0x00, 0x74, 0xef, 0xff, 0xf2, 0x0f,
    0x5e, 0x0f, 0xff, 0x04, 0x40, 0x1c, 0x16, 0x00, 0xe8, 0xa0, 0xeb, 0x01,
];

#[test]
fn every_encoding_is_read_in_pieces_of_any_size() {
    let body = b"before \"status\":\"ok\" after".repeat(50);
    let checks = [check("after", How::Contains), check("never", How::Contains)];
    for (encoding, name) in ENCODINGS {
        let wire = packed(encoding, &body);
        for piece in [1, 7, 100_000] {
            let read = read(&headers(name, "text/plain"), &wire, piece, 1_000_000, &checks).unwrap();
            assert_eq!(read.body_bytes, 1_300, "{encoding}");
            assert_eq!(read.kept[..], body[..1_000], "{encoding}");
            assert!(read.is_whole, "{encoding}");
            assert_eq!(read.found, [Some(Found::Raw), None], "{encoding}");
        }
    }
}

#[test]
fn a_body_that_is_cut_off_inside_its_encoding_is_incomplete() {
    let body: Vec<u8> = (0..2_000u32).flat_map(|number| number.to_le_bytes()).collect();
    for (encoding, name) in ENCODINGS.into_iter().skip(1) {
        let wire = packed(encoding, &body);
        let cut = &wire[..wire.len() - 3];
        let found = [check("x", How::Contains)];
        assert_eq!(
            read(&headers(name, ""), cut, 100, 1_000_000, &found),
            Err("body_incomplete"),
            "{encoding}"
        );
    }
}

#[test]
fn a_bomb_goes_off_within_the_limit() {
    let zeros = vec![0; 50_000_000];
    for (encoding, name) in ENCODINGS.into_iter().skip(1) {
        let wire = packed(encoding, &zeros);
        assert!(wire.len() < 100_000, "{encoding} packs {} bytes", wire.len());
        let read = read(&headers(name, ""), &wire, 4_096, 1_000_000, &[check("x", How::Contains)]).unwrap();
        assert_eq!((read.body_bytes, read.is_whole), (1_000_000, false), "{encoding}");
        assert!(read.kept.len() <= 1_000, "{encoding}");
    }
}

#[test]
fn a_body_in_another_encoding_than_it_says_is_told() {
    for name in ["gzip", "deflate", "zstd"] {
        let body = b"\x07this is plain text and nothing else at all";
        assert_eq!(read(&headers(name, ""), body, 100, 1_000, &[]), Err("body_undecodable"), "{name}");
    }
    assert_eq!(read(&headers("compress", ""), b"", 1, 1_000, &[]), Err("body_undecodable"));
    assert_eq!(read(&headers("gzip, gzip", ""), b"", 1, 1_000, &[]), Err("body_undecodable"));
}

#[test]
fn an_empty_body_is_whole_in_every_encoding() {
    for name in ["", "gzip", "deflate", "br", "zstd"] {
        let read = read(&headers(name, ""), b"", 1, 1_000, &[check("x", How::NotContains)]).unwrap();
        assert_eq!((read.is_whole, read.body_bytes, read.found), (true, 0, vec![None]), "{name}");
    }
}

#[test]
fn a_space_in_json_is_no_difference_unless_one_asks_for_bytes_a47() {
    let checks = [check("\"status\":\"ok\"", How::Contains), check("\"status\":\"ok\"", How::ContainsRaw)];
    let found = |body: &[u8]| read(&headers("", "application/json"), body, 3, 1_000, &checks).unwrap().found;
    assert_eq!(found(br#"{"status": "ok", "n": 1}"#), [Some(Found::JsonCompact), None]);
    assert_eq!(found(br#"{"status":"ok"}"#), [Some(Found::Raw), Some(Found::Raw)]);
    assert_eq!(found(br#"{"status": "ok""#), [None, None], "what is no json is not made compact");
}

#[test]
fn text_is_compared_as_text() {
    let find = |content_type: &str, body: &[u8]| {
        let checks = [check("grüße", How::Contains), check("grüße", How::ContainsRaw)];
        read(&headers("", content_type), body, 2, 10_000, &checks).unwrap().found
    };
    assert_eq!(find("text/plain; charset=iso-8859-1", b"gr\xfc\xdfe"), [Some(Found::Text), None]);
    assert_eq!(find("text/plain", "gru\u{308}ße".as_bytes()), [Some(Found::Text), None]);
    let utf16: Vec<u8> = "\u{feff}grüße".encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert_eq!(find("text/plain", &utf16), [Some(Found::Text), None]);
    assert_eq!(find("text/plain", "grüße".as_bytes()), [Some(Found::Raw), Some(Found::Raw)]);
}

#[test]
fn a_text_behind_the_limit_is_not_found_and_the_body_is_not_whole() {
    let body = [vec![b'x'; 2_000], b"needle".to_vec()].concat();
    let read = read(&headers("", ""), &body, 100, 1_500, &[check("needle", How::Contains)]).unwrap();
    assert_eq!((read.found, read.is_whole, read.body_bytes), (vec![None], false, 1_500));
}

#[test]
fn no_more_is_kept_than_is_asked_for() {
    let body = vec![b'x'; 3_000_000];
    let mut reader = Reader::new(&headers("", ""), 10_000_000, 10, &[check("y", How::Contains)]).unwrap();
    reader.push(&body).unwrap();
    assert_eq!(reader.decoder.intake().kept.len(), MAX_KEPT_BYTES);
    assert_eq!(reader.finish(true).unwrap().kept.len(), 10);
}

proptest! {
    #[test]
    fn no_bytes_make_a_decoder_panic(
        name in prop_oneof![Just("gzip"), Just("deflate"), Just("br"), Just("zstd")],
        body in proptest::collection::vec(any::<u8>(), 0..200),
        head in proptest::sample::select(vec![&b""[..], b"\x1f\x8b\x08\0\0\0\0\0\0\0", b"\x78\x9c", b"\x28\xb5\x2f\xfd"]),
        piece in 1usize..50,
    ) {
        let body = [head, &body].concat();
        let _ = read(&headers(name, "text/html"), &body, piece, 10_000, &[check("x", How::Contains)]);
    }
}
