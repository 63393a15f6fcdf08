//! Frames: a big-endian length, a header, and a protobuf body.
//!
//! | frame | header after the `i32` length | body |
//! |---|---|---|
//! | request | `i16` API key, `i16` API version, `i32` request id | request message |
//! | response | `i8` 0, `i32` request id | response message |
//! | error response | `i8` 1, `i32` request id | `ErrorResponse` |
//! | server failure | `i8` 2 | `ErrorResponse`; the server closes the connection afterwards |
//!
//! Source: `MessageCodec` and the Netty handlers of Fluss 0.9.1. This module does no I/O and matches no
//! answers to requests.

use bytes::{Buf as _, BufMut as _, Bytes, BytesMut};
use prost::Message;

use crate::messages::{DecodeError, ErrorResponse, Request, decode};

/// Largest frame accepted unless the caller says otherwise: 128 MiB.
pub const DEFAULT_MAX_FRAME_BYTES: usize = 128 * 1024 * 1024;

/// Shortest frame that can exist: the type byte of a server failure and the two bytes of its error code.
const MIN_FRAME_BYTES: usize = 3;

const LENGTH_BYTES: usize = 4;
const REQUEST_HEADER_BYTES: usize = 8;
const RESPONSE_HEADER_BYTES: usize = 5;

const TYPE_SUCCESS: i8 = 0;
const TYPE_ERROR: i8 = 1;
const TYPE_SERVER_FAILURE: i8 = 2;

/// Why a frame was refused. The connection it came from cannot be used any more, unless the error is
/// [`FrameError::Body`].
#[derive(Debug, thiserror::Error)]
pub enum FrameError {
    /// The length field is negative or smaller than any frame.
    #[error("a frame declares a length of {length} bytes")]
    InvalidLength {
        /// The length field.
        length: i32,
    },
    /// The length field is above the limit.
    #[error("a frame of {length} bytes is above the limit of {limit} bytes")]
    TooLarge {
        /// The length field.
        length: usize,
        /// The limit in force.
        limit: usize,
    },
    /// The frame is shorter than its header.
    #[error("a frame of {length} bytes is shorter than its header")]
    ShortHeader {
        /// Bytes in the frame.
        length: usize,
    },
    /// The type byte of a response is none of 0, 1 and 2.
    #[error("a response frame has the unknown type {found}")]
    UnknownType {
        /// The type byte.
        found: i8,
    },
    /// The `ErrorResponse` of an error or failure frame is malformed.
    #[error("the body of an error frame is malformed")]
    Body {
        /// What is wrong with it.
        #[source]
        source: DecodeError,
    },
}

impl FrameError {
    /// Returns the stable code of the error.
    pub fn code(&self) -> &'static str {
        match self {
            Self::InvalidLength { .. } => "frame_length_invalid",
            Self::TooLarge { .. } => "frame_too_large",
            Self::ShortHeader { .. } => "frame_header_short",
            Self::UnknownType { .. } => "frame_type_unknown",
            Self::Body { .. } => "frame_body_invalid",
        }
    }
}

/// A response frame without its length field.
#[derive(Clone, Debug, PartialEq)]
pub enum ResponseFrame {
    /// The request succeeded as a whole; items inside may still carry errors of their own.
    Success {
        /// Id of the request answered.
        request_id: i32,
        /// Response message of the request's API key, not yet decoded.
        body: Bytes,
    },
    /// The request failed as a whole.
    Error {
        /// Id of the request answered.
        request_id: i32,
        /// The error; an absent message stands for the default text of its code.
        error: ErrorResponse,
    },
    /// The server's connection handler failed: every pending request is lost.
    ServerFailure {
        /// The error.
        error: ErrorResponse,
    },
}

/// A request frame without its length field, as a server reads it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestFrame {
    /// API key; may be unknown to [`crate::api_key::ApiKey`].
    pub api_key: i16,
    /// API version chosen by the client.
    pub api_version: i16,
    /// Id chosen by the client.
    pub request_id: i32,
    /// Request message, not yet decoded.
    pub body: Bytes,
}

/// Encodes a whole request frame, length included.
///
/// # Errors
/// [`FrameError::TooLarge`] if the frame does not fit the length field.
pub fn encode_request<R: Request>(version: i16, request_id: i32, request: &R) -> Result<Bytes, FrameError> {
    let mut frame = start_frame(REQUEST_HEADER_BYTES, request)?;
    frame.put_i16(R::KEY.code());
    frame.put_i16(version);
    frame.put_i32(request_id);
    Ok(finish_frame(frame, request))
}

/// Encodes a whole success response, length included.
///
/// # Errors
/// [`FrameError::TooLarge`] if the frame does not fit the length field.
pub fn encode_success(request_id: i32, response: &impl Message) -> Result<Bytes, FrameError> {
    encode_response(TYPE_SUCCESS, Some(request_id), response)
}

/// Encodes a whole error response, length included.
///
/// # Errors
/// [`FrameError::TooLarge`] if the frame does not fit the length field.
pub fn encode_error(request_id: i32, error: &ErrorResponse) -> Result<Bytes, FrameError> {
    encode_response(TYPE_ERROR, Some(request_id), error)
}

/// Encodes a whole server failure, length included.
///
/// # Errors
/// [`FrameError::TooLarge`] if the frame does not fit the length field.
pub fn encode_server_failure(error: &ErrorResponse) -> Result<Bytes, FrameError> {
    encode_response(TYPE_SERVER_FAILURE, None, error)
}

/// Decodes a response frame from the bytes after its length field.
///
/// # Errors
/// [`FrameError::ShortHeader`], [`FrameError::UnknownType`] or [`FrameError::Body`].
pub fn decode_response(mut frame: Bytes) -> Result<ResponseFrame, FrameError> {
    let length = frame.len();
    let short = FrameError::ShortHeader { length };
    let frame_type = frame.try_get_i8().map_err(|_| short)?;
    if frame_type == TYPE_SERVER_FAILURE {
        return Ok(ResponseFrame::ServerFailure { error: decode_error_body(frame)? });
    }
    if frame_type != TYPE_SUCCESS && frame_type != TYPE_ERROR {
        return Err(FrameError::UnknownType { found: frame_type });
    }
    let request_id = frame.try_get_i32().map_err(|_| FrameError::ShortHeader { length })?;
    if frame_type == TYPE_SUCCESS {
        Ok(ResponseFrame::Success { request_id, body: frame })
    } else {
        Ok(ResponseFrame::Error { request_id, error: decode_error_body(frame)? })
    }
}

/// Decodes a request frame from the bytes after its length field.
///
/// # Errors
/// [`FrameError::ShortHeader`].
pub fn decode_request(mut frame: Bytes) -> Result<RequestFrame, FrameError> {
    let length = frame.len();
    if length < REQUEST_HEADER_BYTES {
        return Err(FrameError::ShortHeader { length });
    }
    Ok(RequestFrame {
        api_key: frame.get_i16(),
        api_version: frame.get_i16(),
        request_id: frame.get_i32(),
        body: frame,
    })
}

/// Cuts a stream of bytes into frames.
///
/// The reader owns no buffer: it takes whole frames off the front of the caller's buffer, so memory grows
/// with what has arrived, never with what a length field claims.
#[derive(Debug)]
pub struct FrameReader {
    limit: usize,
}

impl FrameReader {
    /// Creates a reader that accepts frames of up to `limit` bytes, their length field not counted.
    pub fn new(limit: usize) -> Self {
        Self { limit }
    }

    /// Takes the next whole frame, without its length field, or returns `None` until more bytes are there.
    ///
    /// A length field is checked as soon as its four bytes are there. After an error the buffer is as before
    /// and the stream cannot be followed any further.
    ///
    /// # Errors
    /// [`FrameError::InvalidLength`] or [`FrameError::TooLarge`].
    pub fn feed(&mut self, buffer: &mut BytesMut) -> Result<Option<Bytes>, FrameError> {
        let Some(head) = buffer.first_chunk::<LENGTH_BYTES>() else { return Ok(None) };
        let declared = i32::from_be_bytes(*head);
        let length = match usize::try_from(declared) {
            Ok(length) if length >= MIN_FRAME_BYTES => length,
            _ => return Err(FrameError::InvalidLength { length: declared }),
        };
        if length > self.limit {
            return Err(FrameError::TooLarge { length, limit: self.limit });
        }
        if buffer.len() - LENGTH_BYTES < length {
            return Ok(None);
        }
        buffer.advance(LENGTH_BYTES);
        Ok(Some(buffer.split_to(length).freeze()))
    }
}

fn decode_error_body(body: Bytes) -> Result<ErrorResponse, FrameError> {
    decode(body).map_err(|source| FrameError::Body { source })
}

fn encode_response(
    frame_type: i8,
    request_id: Option<i32>,
    body: &impl Message,
) -> Result<Bytes, FrameError> {
    let header = if request_id.is_some() { RESPONSE_HEADER_BYTES } else { 1 };
    let mut frame = start_frame(header, body)?;
    frame.put_i8(frame_type);
    if let Some(request_id) = request_id {
        frame.put_i32(request_id);
    }
    Ok(finish_frame(frame, body))
}

fn start_frame(header: usize, body: &impl Message) -> Result<BytesMut, FrameError> {
    let length = header + body.encoded_len();
    let Ok(declared) = i32::try_from(length) else {
        return Err(FrameError::TooLarge { length, limit: 0x7fff_ffff });
    };
    let mut frame = BytesMut::with_capacity(LENGTH_BYTES + length);
    frame.put_i32(declared);
    Ok(frame)
}

fn finish_frame(mut frame: BytesMut, body: &impl Message) -> Bytes {
    body.encode_raw(&mut frame);
    frame.freeze()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::messages::{ListDatabasesRequest, ListDatabasesResponse};

    fn error(code: i32, message: Option<&str>) -> ErrorResponse {
        ErrorResponse { error_code: code, error_message: message.map(str::to_owned) }
    }

    fn body_of(frame: &Bytes) -> Bytes {
        let declared = usize::try_from(i32::from_be_bytes(*frame.first_chunk().unwrap())).unwrap();
        assert_eq!(declared, frame.len() - LENGTH_BYTES);
        frame.slice(LENGTH_BYTES..)
    }

    #[test]
    fn request_has_the_header_fluss_expects() {
        let frame = encode_request(0, 7, &ListDatabasesRequest { include_summary: Some(true) }).unwrap();
        assert_eq!(&frame[..], [0, 0, 0, 10, 0x03, 0xeb, 0, 0, 0, 0, 0, 7, 8, 1]);
        let request = decode_request(body_of(&frame)).unwrap();
        assert_eq!((request.api_key, request.api_version, request.request_id), (1003, 0, 7));
        assert_eq!(&request.body[..], [8, 1]);
    }

    #[test]
    fn responses_round_trip() {
        let message = ListDatabasesResponse { database_name: vec!["fluss".into()], database_summary: vec![] };
        let frame = encode_success(-1, &message).unwrap();
        let expected = ResponseFrame::Success { request_id: -1, body: Bytes::from(message.encode_to_vec()) };
        assert_eq!(decode_response(body_of(&frame)).unwrap(), expected);

        let frame = encode_error(3, &error(7, None)).unwrap();
        let expected = ResponseFrame::Error { request_id: 3, error: error(7, None) };
        assert_eq!(decode_response(body_of(&frame)).unwrap(), expected);

        let frame = encode_server_failure(&error(-1, Some("boom"))).unwrap();
        let expected = ResponseFrame::ServerFailure { error: error(-1, Some("boom")) };
        assert_eq!(decode_response(body_of(&frame)).unwrap(), expected);
    }

    #[test]
    fn malformed_headers_are_refused() {
        let code = |bytes: &'static [u8]| decode_response(Bytes::from_static(bytes)).unwrap_err().code();
        assert_eq!(code(&[]), "frame_header_short");
        assert_eq!(code(&[0, 0, 0, 1]), "frame_header_short");
        assert_eq!(code(&[3, 0, 0, 0, 1]), "frame_type_unknown");
        assert_eq!(code(&[0xff, 0, 0, 0, 1]), "frame_type_unknown");
        assert_eq!(code(&[1, 0, 0, 0, 1]), "frame_body_invalid");
        assert_eq!(code(&[2]), "frame_body_invalid");
        assert_eq!(decode_request(Bytes::from_static(&[0; 7])).unwrap_err().code(), "frame_header_short");
    }

    #[test]
    fn reader_yields_frames_however_the_bytes_are_cut() {
        let first = encode_error(1, &error(7, Some("gone"))).unwrap();
        let second = encode_success(2, &ListDatabasesResponse::default()).unwrap();
        let stream = [&first[..], &second[..]].concat();
        for cut in 1..stream.len() {
            let mut reader = FrameReader::new(64);
            let mut buffer = BytesMut::new();
            let mut frames = Vec::new();
            for part in stream.chunks(cut) {
                buffer.extend_from_slice(part);
                while let Some(frame) = reader.feed(&mut buffer).unwrap() {
                    frames.push(frame);
                }
            }
            assert_eq!(frames, [body_of(&first), body_of(&second)], "cut at every {cut} bytes");
            assert!(buffer.is_empty());
        }
    }

    #[test]
    fn reader_refuses_impossible_lengths_without_waiting_for_the_body() {
        let code = |length: i32| {
            let mut buffer = BytesMut::from(&length.to_be_bytes()[..]);
            FrameReader::new(64).feed(&mut buffer).map(|_| ()).map_err(|error| error.code())
        };
        assert_eq!(code(-1), Err("frame_length_invalid"));
        assert_eq!(code(i32::MIN), Err("frame_length_invalid"));
        assert_eq!(code(0), Err("frame_length_invalid"));
        assert_eq!(code(2), Err("frame_length_invalid"));
        assert_eq!(code(3), Ok(()));
        assert_eq!(code(64), Ok(()));
        assert_eq!(code(65), Err("frame_too_large"));
        assert_eq!(code(i32::MAX), Err("frame_too_large"));
    }
}
