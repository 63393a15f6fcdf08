//! A stream of frames, cut into parts by its first byte, then read as responses and as requests.
#![no_main]

use bytes::{Bytes, BytesMut};
use fluss_codec::api_key::ApiKey;
use fluss_codec::frame::{FrameReader, ResponseFrame, decode_request, decode_response, encode_error};
use fluss_codec::messages::normalize_request;
use libfuzzer_sys::fuzz_target;

const LIMIT: usize = 1 << 16;

fuzz_target!(|data: &[u8]| {
    let Some((part, stream)) = data.split_first() else { return };
    let mut reader = FrameReader::new(LIMIT);
    let mut buffer = BytesMut::new();
    for part in stream.chunks(usize::from(*part) + 1) {
        buffer.extend_from_slice(part);
        loop {
            let capacity = buffer.capacity();
            match reader.feed(&mut buffer) {
                Ok(Some(frame)) => read(frame),
                Ok(None) => {
                    assert_eq!(buffer.capacity(), capacity, "waiting for more must not reserve memory");
                    break;
                }
                Err(_) => return,
            }
        }
    }
});

fn read(frame: Bytes) {
    assert!(frame.len() <= LIMIT);
    if let Ok(ResponseFrame::Error { request_id, error }) = decode_response(frame.clone()) {
        let encoded = encode_error(request_id, &error).expect("what was read in a frame fits a frame");
        let again = decode_response(encoded.slice(4..)).expect("what was encoded decodes");
        assert_eq!(again, ResponseFrame::Error { request_id, error });
    }
    if let Ok(request) = decode_request(frame)
        && let Some(key) = ApiKey::from_code(request.api_key)
    {
        let _ = normalize_request(key, request.body);
    }
}
