//! Checks the bytes of a message against its layout before prost decodes them.
//!
//! prost fills a missing proto2 `required` field with a default, and its errors do not always say where the
//! fault lies. This pass allocates nothing, so that a hostile body is refused before anything is built from
//! it. It must not interpret values: that is left to prost and to the callers.

use bytes::Bytes;

use super::layout::LAYOUTS;

/// Deepest nesting of messages that [`decode`] follows; Fluss itself needs five levels plus predicates.
pub const MAX_NESTING: usize = 32;

/// Most elements (nested messages, strings, byte strings, packed numbers) that one body may hold.
///
/// An element of two bytes on the wire becomes a struct of a hundred or more in memory; the limit keeps that
/// factor from turning one large frame into gigabytes.
pub const MAX_ELEMENTS: usize = 1 << 21;

/// A protobuf message of the Fluss protocol with a known layout.
pub trait Wire: prost::Message + Default {
    /// Layout of the message, from which required fields and wire types are checked.
    fn layout() -> &'static MessageLayout;
}

/// Type of a field's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldKind {
    /// `bool`.
    Bool,
    /// `int32`.
    Int32,
    /// `int64`.
    Int64,
    /// `float`.
    Float,
    /// `double`.
    Double,
    /// `string`, UTF-8.
    String,
    /// `bytes`.
    Bytes,
    /// A nested message, by its index among all layouts.
    Message(usize),
}

/// How often a field occurs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Label {
    /// At least once.
    Required,
    /// At most once in well-formed senders; the last occurrence counts.
    Optional,
    /// Any number of times.
    Repeated,
}

/// One field of a message.
#[derive(Debug)]
pub struct FieldLayout {
    /// Field number, from 1.
    pub tag: u32,
    /// Name in the `.proto` file.
    pub name: &'static str,
    /// Type of the value.
    pub kind: FieldKind,
    /// How often the field occurs.
    pub label: Label,
    /// Whether Fluss declares the field packed; both forms are read.
    pub packed: bool,
}

impl FieldLayout {
    pub(super) const fn new(
        tag: u32,
        name: &'static str,
        kind: FieldKind,
        label: Label,
        packed: bool,
    ) -> Self {
        Self { tag, name, kind, label, packed }
    }
}

/// All fields of one message, ascending by number.
#[derive(Debug)]
pub struct MessageLayout {
    /// Name of the message, as in Fluss.
    pub name: &'static str,
    /// Its fields; at most 64.
    pub fields: &'static [FieldLayout],
}

impl MessageLayout {
    pub(super) const fn new(name: &'static str, fields: &'static [FieldLayout]) -> Self {
        Self { name, fields }
    }

    /// Returns the layout of a nested message by the index in [`FieldKind::Message`].
    pub fn nested(index: usize) -> Option<&'static Self> {
        LAYOUTS.get(index)
    }

    /// Returns the layouts of all messages.
    pub fn all() -> &'static [Self] {
        &LAYOUTS
    }
}

/// Why a message body was refused.
#[derive(Debug, thiserror::Error)]
pub enum DecodeError {
    /// A `required` field is missing.
    #[error("{message} lacks its required field {field}")]
    MissingField {
        /// Name of the message.
        message: &'static str,
        /// Name of the field.
        field: &'static str,
    },
    /// A known field came with a wire type other than the declared one.
    #[error("{message}.{field} has wire type {found}")]
    WireType {
        /// Name of the message.
        message: &'static str,
        /// Name of the field.
        field: &'static str,
        /// Wire type number found.
        found: u8,
    },
    /// A field number is 0 or beyond 2^29 − 1.
    #[error("{message} holds the field number {tag}, which does not exist")]
    FieldNumber {
        /// Name of the message.
        message: &'static str,
        /// The number found.
        tag: u64,
    },
    /// A group or an undefined wire type, neither of which Fluss uses.
    #[error("{message} holds a field of wire type {found}, which is not used")]
    UnusedWireType {
        /// Name of the message.
        message: &'static str,
        /// Wire type number found.
        found: u8,
    },
    /// The body ends inside a field.
    #[error("{message}.{field} ends early")]
    Truncated {
        /// Name of the message.
        message: &'static str,
        /// Name of the field, or `(unknown)`.
        field: &'static str,
    },
    /// A variable-length integer is longer than ten bytes.
    #[error("{message}.{field} is an integer of more than ten bytes")]
    Varint {
        /// Name of the message.
        message: &'static str,
        /// Name of the field, or `(unknown)`.
        field: &'static str,
    },
    /// A string is not UTF-8.
    #[error("{message}.{field} is not UTF-8")]
    Utf8 {
        /// Name of the message.
        message: &'static str,
        /// Name of the field.
        field: &'static str,
    },
    /// Messages are nested deeper than [`MAX_NESTING`].
    #[error("{message} is nested more than {MAX_NESTING} levels deep")]
    TooDeep {
        /// Name of the innermost message reached.
        message: &'static str,
    },
    /// The body holds more than [`MAX_ELEMENTS`] elements.
    #[error("{message} holds more than {MAX_ELEMENTS} elements")]
    TooManyElements {
        /// Name of the outermost message.
        message: &'static str,
    },
    /// prost refused a body that had passed the checks above.
    #[error("{message} could not be decoded")]
    Prost {
        /// Name of the outermost message.
        message: &'static str,
        /// What prost said.
        #[source]
        source: prost::DecodeError,
    },
}

impl DecodeError {
    /// Returns the stable code of the error.
    pub fn code(&self) -> &'static str {
        match self {
            Self::MissingField { .. } => "message_field_missing",
            Self::WireType { .. } | Self::FieldNumber { .. } | Self::UnusedWireType { .. } => {
                "message_field_type"
            }
            Self::Truncated { .. } => "message_truncated",
            Self::Varint { .. } => "message_varint_invalid",
            Self::Utf8 { .. } => "message_text_invalid",
            Self::TooDeep { .. } | Self::TooManyElements { .. } => "message_too_large",
            Self::Prost { .. } => "message_invalid",
        }
    }

    /// Returns the name of the message in which the fault was found.
    pub fn message_name(&self) -> &'static str {
        match self {
            Self::MissingField { message, .. }
            | Self::WireType { message, .. }
            | Self::FieldNumber { message, .. }
            | Self::UnusedWireType { message, .. }
            | Self::Truncated { message, .. }
            | Self::Varint { message, .. }
            | Self::Utf8 { message, .. }
            | Self::TooDeep { message }
            | Self::TooManyElements { message }
            | Self::Prost { message, .. } => message,
        }
    }
}

/// Decodes one message from a whole body; byte fields share the body's memory.
///
/// Unknown fields are skipped, packed and unpacked repeated numbers are both read, and the last occurrence of
/// a field that occurs once counts.
///
/// # Errors
/// [`DecodeError`] names the message and the field at fault.
pub fn decode<M: Wire>(body: Bytes) -> Result<M, DecodeError> {
    let layout = M::layout();
    check(layout, &body)?;
    M::decode(body).map_err(|source| DecodeError::Prost { message: layout.name, source })
}

/// Checks a body against a layout without building anything from it.
///
/// # Errors
/// [`DecodeError`] names the message and the field at fault.
pub fn check(layout: &'static MessageLayout, body: &[u8]) -> Result<(), DecodeError> {
    let mut checker = Checker { root: layout.name, elements: 0 };
    checker.message(layout, body, 1)
}

const UNKNOWN_FIELD: &str = "(unknown)";
const MAX_FIELD_NUMBER: u64 = (1 << 29) - 1;

const WIRE_VARINT: u8 = 0;
const WIRE_FIXED64: u8 = 1;
const WIRE_BYTES: u8 = 2;
const WIRE_FIXED32: u8 = 5;

struct Checker {
    root: &'static str,
    elements: usize,
}

impl Checker {
    fn message(
        &mut self,
        layout: &'static MessageLayout,
        body: &[u8],
        depth: usize,
    ) -> Result<(), DecodeError> {
        let message = layout.name;
        if depth > MAX_NESTING {
            return Err(DecodeError::TooDeep { message });
        }
        let mut input = Cursor { rest: body, message };
        let mut present = 0_u64;
        while !input.rest.is_empty() {
            let key = input.varint(UNKNOWN_FIELD)?;
            let tag = key >> 3;
            let wire_type = (key & 7) as u8;
            let known = u32::try_from(tag)
                .ok()
                .and_then(|tag| layout.fields.iter().enumerate().find(|(_, field)| field.tag == tag));
            match known {
                Some((index, field)) => {
                    present |= 1 << index;
                    self.field(&mut input, field, wire_type, depth)?;
                }
                None if tag == 0 || tag > MAX_FIELD_NUMBER => {
                    return Err(DecodeError::FieldNumber { message, tag });
                }
                None => input.skip(wire_type)?,
            }
        }
        let missing = layout
            .fields
            .iter()
            .enumerate()
            .find(|(index, field)| field.label == Label::Required && present & (1 << index) == 0);
        match missing {
            Some((_, field)) => Err(DecodeError::MissingField { message, field: field.name }),
            None => Ok(()),
        }
    }

    fn field(
        &mut self,
        input: &mut Cursor<'_>,
        field: &'static FieldLayout,
        wire_type: u8,
        depth: usize,
    ) -> Result<(), DecodeError> {
        let message = input.message;
        match (field.kind, wire_type) {
            (FieldKind::Bool | FieldKind::Int32 | FieldKind::Int64, WIRE_VARINT) => {
                if field.label == Label::Repeated {
                    self.count_element()?;
                }
                input.varint(field.name).map(drop)
            }
            (FieldKind::Float, WIRE_FIXED32) => input.take(4, field.name).map(drop),
            (FieldKind::Double, WIRE_FIXED64) => input.take(8, field.name).map(drop),
            (FieldKind::String, WIRE_BYTES) => {
                self.count_element()?;
                let text = input.delimited(field.name)?;
                match std::str::from_utf8(text) {
                    Ok(_) => Ok(()),
                    Err(_) => Err(DecodeError::Utf8 { message, field: field.name }),
                }
            }
            (FieldKind::Bytes, WIRE_BYTES) => {
                self.count_element()?;
                input.delimited(field.name).map(drop)
            }
            (FieldKind::Message(index), WIRE_BYTES) => {
                self.count_element()?;
                let body = input.delimited(field.name)?;
                match LAYOUTS.get(index) {
                    Some(layout) => self.message(layout, body, depth + 1),
                    None => Err(DecodeError::WireType { message, field: field.name, found: wire_type }),
                }
            }
            (FieldKind::Bool | FieldKind::Int32 | FieldKind::Int64, WIRE_BYTES)
                if field.label == Label::Repeated =>
            {
                let mut packed = Cursor { rest: input.delimited(field.name)?, message };
                while !packed.rest.is_empty() {
                    self.count_element()?;
                    packed.varint(field.name)?;
                }
                Ok(())
            }
            _ => Err(DecodeError::WireType { message, field: field.name, found: wire_type }),
        }
    }

    fn count_element(&mut self) -> Result<(), DecodeError> {
        self.elements += 1;
        if self.elements > MAX_ELEMENTS {
            return Err(DecodeError::TooManyElements { message: self.root });
        }
        Ok(())
    }
}

struct Cursor<'a> {
    rest: &'a [u8],
    message: &'static str,
}

impl<'a> Cursor<'a> {
    fn varint(&mut self, field: &'static str) -> Result<u64, DecodeError> {
        let mut value = 0_u64;
        for (index, byte) in self.rest.iter().take(10).enumerate() {
            // The tenth byte may only carry the one bit that is left of 64.
            if index == 9 && *byte > 1 {
                return Err(DecodeError::Varint { message: self.message, field });
            }
            value |= u64::from(byte & 0x7f) << (7 * index);
            if byte & 0x80 == 0 {
                self.rest = self.rest.get(index + 1..).unwrap_or_default();
                return Ok(value);
            }
        }
        Err(DecodeError::Truncated { message: self.message, field })
    }

    fn take(&mut self, count: usize, field: &'static str) -> Result<&'a [u8], DecodeError> {
        match self.rest.split_at_checked(count) {
            Some((head, tail)) => {
                self.rest = tail;
                Ok(head)
            }
            None => Err(DecodeError::Truncated { message: self.message, field }),
        }
    }

    fn delimited(&mut self, field: &'static str) -> Result<&'a [u8], DecodeError> {
        let length = self.varint(field)?;
        match usize::try_from(length) {
            Ok(length) => self.take(length, field),
            Err(_) => Err(DecodeError::Truncated { message: self.message, field }),
        }
    }

    fn skip(&mut self, wire_type: u8) -> Result<(), DecodeError> {
        match wire_type {
            WIRE_VARINT => self.varint(UNKNOWN_FIELD).map(drop),
            WIRE_FIXED64 => self.take(8, UNKNOWN_FIELD).map(drop),
            WIRE_BYTES => self.delimited(UNKNOWN_FIELD).map(drop),
            WIRE_FIXED32 => self.take(4, UNKNOWN_FIELD).map(drop),
            found => Err(DecodeError::UnusedWireType { message: self.message, found }),
        }
    }
}

macro_rules! impl_wire {
    ($($index:literal => $message:ident,)*) => {
        $(impl super::wire::Wire for $message {
            fn layout() -> &'static MessageLayout {
                const { &LAYOUTS[$index] }
            }
        })*
    };
}
pub(super) use impl_wire;
