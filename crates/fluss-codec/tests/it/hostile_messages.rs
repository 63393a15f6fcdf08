//! Frames and messages that are cut, damaged or made up: each ends in an error or a valid message, never in a
//! panic, and never in more memory than what has arrived accounts for.

use bytes::{Bytes, BytesMut};
use fluss_codec::api_key::ApiKey;
use fluss_codec::frame::{FrameReader, ResponseFrame, decode_request, decode_response};
use fluss_codec::messages::{
    DecodeError, ErrorResponse, MessageLayout, check, decode, normalize_request, normalize_response,
    request_layout, response_layout,
};
use proptest::prelude::*;

use crate::corrupted::{apply, damages};
use crate::sample::{Choices, body};

/// Both messages of every API key.
fn both_directions() -> impl Iterator<Item = (ApiKey, &'static MessageLayout, Normalize)> {
    ApiKey::ALL.iter().flat_map(|key| {
        [
            (*key, request_layout(*key), normalize_request as Normalize),
            (*key, response_layout(*key), normalize_response as Normalize),
        ]
    })
}

type Normalize = fn(ApiKey, Bytes) -> Result<Bytes, DecodeError>;

/// Tells whether a body decodes; what decodes must come out the same when it is decoded again.
fn decodes(key: ApiKey, normalize: Normalize, body: &[u8]) -> Result<bool, TestCaseError> {
    match normalize(key, Bytes::copy_from_slice(body)) {
        Ok(normal) => {
            let again = normalize(key, normal.clone());
            prop_assert_eq!(again.map_err(|error| error.to_string()), Ok(normal), "{}", key);
            Ok(true)
        }
        Err(error) => {
            // Whatever is refused is refused by the check that names message and field, not later by prost.
            prop_assert!(!matches!(error, DecodeError::Prost { .. }), "{}: {}", key, error);
            prop_assert!(!error.to_string().is_empty() && !error.message_name().is_empty());
            Ok(false)
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    /// 100 × 130 bodies.
    #[test]
    fn valid_bodies_of_every_message_decode(choices in prop::collection::vec(any::<u8>(), 0..600)) {
        for (key, layout, normalize) in both_directions() {
            let body = body(layout, &mut Choices::new(&choices));
            prop_assert!(decodes(key, normalize, &body)?, "{} {:02x?}", layout.name, body);
        }
    }

    /// 100 × 130 bodies.
    #[test]
    fn damaged_bodies_of_every_message_are_refused_or_valid(
        choices in prop::collection::vec(any::<u8>(), 0..600),
        damages in damages(),
    ) {
        for (key, layout, normalize) in both_directions() {
            let mut body = body(layout, &mut Choices::new(&choices));
            apply(&damages, &mut body);
            decodes(key, normalize, &body)?;
        }
    }

    /// 100 × 130 bodies.
    #[test]
    fn random_bytes_are_refused_or_valid_as_any_message(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        for (key, _, normalize) in both_directions() {
            decodes(key, normalize, &bytes)?;
        }
    }

    /// 100 × 65 bodies, each cut at every place.
    #[test]
    fn cut_responses_are_refused_or_valid(choices in prop::collection::vec(any::<u8>(), 0..40)) {
        for key in ApiKey::ALL {
            let layout = response_layout(*key);
            let body = body(layout, &mut Choices::new(&choices));
            for end in 0..body.len() {
                let _ = check(layout, &body[..end]);
            }
            prop_assert!(check(layout, &body).is_ok());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn response_frames_are_refused_or_valid(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
        match decode_response(Bytes::from(bytes.clone())) {
            Ok(ResponseFrame::Success { body, .. }) => prop_assert_eq!(&body[..], &bytes[5..]),
            Ok(ResponseFrame::Error { error, .. } | ResponseFrame::ServerFailure { error }) => {
                let again = prost::Message::encode_to_vec(&error);
                prop_assert_eq!(decode::<ErrorResponse>(Bytes::from(again)).unwrap(), error);
            }
            Err(error) => prop_assert!(!error.code().is_empty()),
        }
    }

    #[test]
    fn request_frames_are_refused_or_valid(bytes in prop::collection::vec(any::<u8>(), 0..32)) {
        match decode_request(Bytes::from(bytes.clone())) {
            Ok(request) => prop_assert_eq!(&request.body[..], &bytes[8..]),
            Err(_) => prop_assert!(bytes.len() < 8),
        }
    }

    /// Lengths are drawn so that about half of the streams are refused.
    #[test]
    fn reader_takes_no_more_memory_than_what_has_arrived(
        lengths in prop::collection::vec(prop_oneof![3..200_i32, any::<i32>()], 1..5),
        parts in prop::collection::vec(1..100_usize, 1..30),
        limit in 3..400_usize,
    ) {
        let mut stream = Vec::new();
        for length in &lengths {
            stream.extend(length.to_be_bytes());
            stream.resize(stream.len() + usize::try_from(*length).unwrap_or(0).min(300), 7);
        }
        let mut reader = FrameReader::new(limit);
        prop_assert_eq!(size_of_val(&reader), size_of::<usize>());
        let mut buffer = BytesMut::new();
        let mut position = 0;
        let mut frames = 0_usize;
        for part in parts.iter().cycle() {
            if position == stream.len() {
                break;
            }
            let end = stream.len().min(position + part);
            buffer.extend_from_slice(&stream[position..end]);
            position = end;
            loop {
                let (held, capacity) = (buffer.len(), buffer.capacity());
                match reader.feed(&mut buffer) {
                    Ok(Some(frame)) => {
                        prop_assert!(frame.len() <= limit);
                        prop_assert_eq!(buffer.len() + frame.len() + 4, held);
                        prop_assert_eq!(frame.len(), usize::try_from(lengths[frames]).unwrap());
                        frames += 1;
                    }
                    Ok(None) => {
                        prop_assert_eq!((buffer.len(), buffer.capacity()), (held, capacity));
                        break;
                    }
                    Err(_) => {
                        let length = usize::try_from(lengths[frames]);
                        prop_assert!(length.is_err() || length.is_ok_and(|length| length < 3 || length > limit));
                        prop_assert_eq!((buffer.len(), buffer.capacity()), (held, capacity));
                        return Ok(());
                    }
                }
            }
        }
    }
}
