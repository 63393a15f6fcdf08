//! A body of the message that the first byte chooses: the API key in its lower seven bits, the direction in the
//! highest.
#![no_main]

use bytes::Bytes;
use fluss_codec::api_key::ApiKey;
use fluss_codec::messages::{DecodeError, normalize_request, normalize_response};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Some((choice, body)) = data.split_first() else { return };
    let key = ApiKey::ALL[usize::from(choice & 0x7f) % ApiKey::ALL.len()];
    let normalize = if choice & 0x80 == 0 { normalize_response } else { normalize_request };
    match normalize(key, Bytes::copy_from_slice(body)) {
        Ok(normal) => {
            let again = normalize(key, normal.clone()).expect("what was encoded decodes");
            assert_eq!(again, normal, "decoding and encoding again must change nothing");
        }
        Err(DecodeError::Prost { source, .. }) => {
            panic!("the check let through what prost refuses: {source}")
        }
        Err(_) => {}
    }
});
