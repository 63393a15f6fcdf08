//! Messages of the Fluss RPC protocol, generated from `proto/fluss.proto`.
//!
//! The structs are plain prost messages under their Fluss names. Bodies from the network go through
//! [`decode`], never through `prost::Message::decode` alone, because prost does not check required fields.

#[expect(
    missing_docs,
    reason = "fields carry the names of the Fluss protocol and no more is known of them than their type"
)]
mod generated;
mod layout;
mod redacted;
mod request;
mod wire;

pub use generated::*;
pub use request::{Request, normalize_request, normalize_response, request_layout, response_layout};
pub use wire::{
    DecodeError, FieldKind, FieldLayout, Label, MAX_ELEMENTS, MAX_NESTING, MessageLayout, Wire, check, decode,
};
