//! Each rule of the message decoder, seen to hold for every message and field it concerns.

use bytes::Bytes;
use fluss_codec::messages::{
    DecodeError, FieldKind, GetLakeSnapshotResponse, Label, LookupResponse, MAX_ELEMENTS, MAX_NESTING,
    MessageLayout, MetadataRequest, PbPredicate, PbTablePath, check, decode,
};

use crate::sample::{key, minimal, minimal_field, varint, wire_type};

#[test]
fn every_required_field_is_missed() {
    let mut count = 0;
    for layout in MessageLayout::all() {
        assert!(check(layout, &minimal(layout)).is_ok(), "{}", layout.name);
        for left_out in layout.fields.iter().filter(|field| field.label == Label::Required) {
            let others = layout.fields.iter().filter(|field| field.label == Label::Required);
            let body: Vec<u8> =
                others.filter(|field| field.tag != left_out.tag).flat_map(minimal_field).collect();
            match check(layout, &body) {
                Err(DecodeError::MissingField { message, field }) => {
                    assert_eq!((message, field), (layout.name, left_out.name));
                }
                other => panic!("{}.{}: {other:?}", layout.name, left_out.name),
            }
            count += 1;
        }
    }
    assert!(count > 250, "{count}");
}

#[test]
fn every_field_refuses_other_wire_types() {
    for layout in MessageLayout::all() {
        for field in layout.fields {
            let numeric = wire_type(field.kind) != 2;
            for wire in [0, 1, 2, 5] {
                let packed = wire == 2 && numeric && field.label == Label::Repeated;
                if wire == wire_type(field.kind) || packed {
                    continue;
                }
                let mut body = Vec::new();
                key(field.tag, wire, &mut body);
                body.extend([0; 8]);
                match check(layout, &body) {
                    Err(DecodeError::WireType { message, field: name, found }) => {
                        assert_eq!((message, name, found), (layout.name, field.name, wire));
                    }
                    other => panic!("{}.{} as {wire}: {other:?}", layout.name, field.name),
                }
            }
        }
    }
}

#[test]
fn repeated_numbers_are_read_packed_and_one_by_one() {
    let one_by_one = [0x18, 1, 0x18, 2, 0x18, 0xac, 2];
    let packed = [0x1a, 4, 1, 2, 0xac, 2];
    let mixed = [0x18, 1, 0x1a, 3, 2, 0xac, 2];
    for body in [&one_by_one[..], &packed, &mixed] {
        let request: MetadataRequest = decode(Bytes::copy_from_slice(body)).unwrap();
        assert_eq!(request.partitions_id, [1, 2, 300]);
    }
    let cut = [0x1a, 3, 1, 2, 0xac];
    assert_eq!(
        decode::<MetadataRequest>(Bytes::copy_from_slice(&cut)).unwrap_err().code(),
        "message_truncated"
    );
}

#[test]
fn unknown_fields_are_skipped_and_groups_refused() {
    let path = minimal_path();
    for (wire, value) in [(0, &[0x80, 1][..]), (1, &[0; 8]), (2, &[2, 9, 9]), (5, &[0; 4])] {
        let mut body = path.clone();
        key(1000, wire, &mut body);
        body.extend(value);
        assert_eq!(decode::<PbTablePath>(body.into()).unwrap().database_name, "d");
    }
    for wire in [3, 4, 6, 7] {
        let mut body = path.clone();
        key(1000, wire, &mut body);
        let error = decode::<PbTablePath>(body.into()).unwrap_err();
        assert!(matches!(error, DecodeError::UnusedWireType { found, .. } if found == wire), "{error}");
    }
    for tag in [0_u64, 1 << 29, u64::MAX >> 3] {
        let mut body = path.clone();
        varint(tag << 3, &mut body);
        body.push(0);
        let error = decode::<PbTablePath>(body.into()).unwrap_err();
        assert!(matches!(error, DecodeError::FieldNumber { tag: found, .. } if found == tag), "{error}");
    }
}

#[test]
fn faults_name_message_and_field() {
    let code = |body: &[u8]| {
        let error = decode::<PbTablePath>(Bytes::copy_from_slice(body)).unwrap_err();
        (error.code(), error.to_string())
    };
    assert_eq!(
        code(&[0x0a, 1, 0xff]),
        ("message_text_invalid", "PbTablePath.database_name is not UTF-8".into())
    );
    assert_eq!(code(&[0x12, 9, b'a']), ("message_truncated", "PbTablePath.table_name ends early".into()));
    assert_eq!(
        code(&[0x0a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2]),
        ("message_varint_invalid", "PbTablePath.database_name is an integer of more than ten bytes".into())
    );
    assert_eq!(code(&[0x80]), ("message_truncated", "PbTablePath.(unknown) ends early".into()));
}

#[test]
fn last_occurrence_of_a_single_field_counts() {
    let mut body = minimal(MessageLayout::nested(index_of("GetLakeSnapshotResponse")).unwrap());
    body.extend([0x08, 7, 0x08, 8]);
    assert_eq!(decode::<GetLakeSnapshotResponse>(body.into()).unwrap().table_id, 8);
}

#[test]
fn nesting_is_limited() {
    // A predicate holds a compound (field 3), which holds predicates (field 2): two levels a step.
    let nested = |levels: usize| {
        let mut body = vec![0x08, 1];
        for level in 1..levels {
            let (field, head) = if level % 2 == 0 { (3, &[0x08, 1][..]) } else { (2, &[0x08, 0][..]) };
            let mut outer = head.to_vec();
            key(field, 2, &mut outer);
            varint(u64::try_from(body.len()).unwrap(), &mut outer);
            outer.extend(&body);
            body = outer;
        }
        body
    };
    let deepest_odd = MAX_NESTING - 1;
    assert!(decode::<PbPredicate>(nested(deepest_odd).into()).is_ok());
    let error = decode::<PbPredicate>(nested(deepest_odd + 2).into()).unwrap_err();
    assert!(matches!(error, DecodeError::TooDeep { .. }), "{error}");
}

#[test]
fn elements_are_limited_before_anything_is_built() {
    // Two bytes a value on the wire, forty in memory.
    let values = |count: usize| {
        let mut bucket = vec![0x10, 0];
        for _ in 0..count {
            bucket.extend([0x2a, 0]);
        }
        let mut body = vec![0x0a];
        varint(u64::try_from(bucket.len()).unwrap(), &mut body);
        body.extend(bucket);
        Bytes::from(body)
    };
    // The bucket itself is one element.
    let response = decode::<LookupResponse>(values(MAX_ELEMENTS - 1)).unwrap();
    assert_eq!(response.buckets_resp[0].values.len(), MAX_ELEMENTS - 1);
    let error = decode::<LookupResponse>(values(MAX_ELEMENTS)).unwrap_err();
    assert!(matches!(error, DecodeError::TooManyElements { message: "LookupResponse" }), "{error}");
}

#[test]
fn byte_fields_share_the_memory_of_the_body() {
    let body = Bytes::from_static(&[0x0a, 6, 0x10, 0, 0x2a, 2, 0x0a, 0]);
    let response = decode::<LookupResponse>(body.clone()).unwrap();
    let value = response.buckets_resp[0].values[0].values.as_ref().unwrap();
    assert!(value.is_empty());
    let body = Bytes::from_static(&[0x0a, 8, 0x10, 0, 0x2a, 4, 0x0a, 2, b'h', b'i']);
    let response = decode::<LookupResponse>(body.clone()).unwrap();
    let value = response.buckets_resp[0].values[0].values.as_ref().unwrap();
    assert_eq!(value.as_ptr(), body[8..].as_ptr());
}

#[test]
fn layouts_are_ordered_and_refer_to_existing_messages() {
    for layout in MessageLayout::all() {
        assert!(layout.fields.is_sorted_by(|a, b| a.tag < b.tag), "{}", layout.name);
        for field in layout.fields {
            if let FieldKind::Message(index) = field.kind {
                assert!(MessageLayout::nested(index).is_some(), "{}.{}", layout.name, field.name);
            }
            if field.packed {
                assert!(field.label == Label::Repeated && wire_type(field.kind) != 2);
            }
        }
    }
}

fn minimal_path() -> Vec<u8> {
    vec![0x0a, 1, b'd', 0x12, 1, b't']
}

fn index_of(name: &str) -> usize {
    MessageLayout::all().iter().position(|layout| layout.name == name).unwrap()
}
