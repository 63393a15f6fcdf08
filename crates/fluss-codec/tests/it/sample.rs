//! Valid message bodies made from a layout and from bytes that choose their shape.

use fluss_codec::messages::{FieldKind, FieldLayout, Label, MessageLayout};

/// Deepest message a sample holds; below it optional and repeated messages are left out.
const MAX_DEPTH: usize = 6;

/// Bytes that make choices; 0 once they are used up, which always means "as little as possible".
pub(crate) struct Choices<'a>(&'a [u8]);

impl<'a> Choices<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    fn next(&mut self) -> u8 {
        let Some((first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        *first
    }
}

/// Makes a body that the layout allows.
pub(crate) fn body(layout: &MessageLayout, choices: &mut Choices<'_>) -> Vec<u8> {
    let mut output = Vec::new();
    write_message(layout, choices, 1, &mut output);
    output
}

/// Makes the smallest body that the layout allows: the required fields, each with its default.
pub(crate) fn minimal(layout: &MessageLayout) -> Vec<u8> {
    body(layout, &mut Choices::new(&[]))
}

/// Makes one field with the smallest value.
pub(crate) fn minimal_field(field: &FieldLayout) -> Vec<u8> {
    let mut output = Vec::new();
    write_field(field, &mut Choices::new(&[]), 1, &mut output);
    output
}

pub(crate) fn varint(mut value: u64, output: &mut Vec<u8>) {
    while value >= 0x80 {
        output.push(value.to_le_bytes()[0] | 0x80);
        value >>= 7;
    }
    output.push(value.to_le_bytes()[0]);
}

pub(crate) fn key(tag: u32, wire_type: u8, output: &mut Vec<u8>) {
    varint(u64::from(tag) << 3 | u64::from(wire_type), output);
}

pub(crate) fn wire_type(kind: FieldKind) -> u8 {
    match kind {
        FieldKind::Bool | FieldKind::Int32 | FieldKind::Int64 => 0,
        FieldKind::Double => 1,
        FieldKind::String | FieldKind::Bytes | FieldKind::Message(_) => 2,
        FieldKind::Float => 5,
    }
}

fn write_message(layout: &MessageLayout, choices: &mut Choices<'_>, depth: usize, output: &mut Vec<u8>) {
    for field in layout.fields {
        let count = match field.label {
            Label::Required => 1,
            Label::Optional => choices.next() % 2,
            Label::Repeated => choices.next() % 4,
        };
        if field.label != Label::Required && depth >= MAX_DEPTH {
            continue;
        }
        for _ in 0..count {
            write_field(field, choices, depth, output);
        }
    }
}

fn write_field(field: &FieldLayout, choices: &mut Choices<'_>, depth: usize, output: &mut Vec<u8>) {
    let packed = field.packed && choices.next() % 2 == 1;
    key(field.tag, if packed { 2 } else { wire_type(field.kind) }, output);
    let mut value = Vec::new();
    match field.kind {
        FieldKind::Bool => value.push(choices.next() % 2),
        FieldKind::Int32 => {
            let number = i32::from_le_bytes(std::array::from_fn(|_| choices.next()));
            varint(i64::from(number).cast_unsigned(), &mut value);
        }
        FieldKind::Int64 => varint(u64::from_le_bytes(std::array::from_fn(|_| choices.next())), &mut value),
        FieldKind::Float => value.extend(std::array::from_fn::<u8, 4, _>(|_| choices.next())),
        FieldKind::Double => value.extend(std::array::from_fn::<u8, 8, _>(|_| choices.next())),
        FieldKind::String => value.extend("é".repeat(usize::from(choices.next() % 8)).as_bytes()),
        FieldKind::Bytes => {
            for _ in 0..choices.next() % 8 {
                value.push(choices.next());
            }
        }
        FieldKind::Message(index) => {
            write_message(MessageLayout::nested(index).unwrap(), choices, depth + 1, &mut value);
        }
    }
    if packed || wire_type(field.kind) == 2 {
        varint(u64::try_from(value.len()).unwrap(), output);
    }
    output.extend(value);
}
