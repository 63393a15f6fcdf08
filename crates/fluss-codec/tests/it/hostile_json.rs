//! JSON forms that are damaged or made up: each ends in an error that names a place, or in a value that comes
//! out the same when it is written and read again.

use fluss_codec::data_type::DataType;
use fluss_codec::database::DatabaseDescriptor;
use fluss_codec::name::TablePath;
use fluss_codec::partition::PartitionName;
use fluss_codec::schema::Schema;
use fluss_codec::table::TableDescriptor;
use proptest::prelude::*;

use crate::corrupted::{apply, damages};

const SCHEMA: &str = include_str!("../golden/schema.json");
const TABLE: &str = include_str!("../golden/table.json");
const DATABASE: &str = r#"{"version":1,"comment":"c","custom_properties":{"a":"b"}}"#;

fn read_all(text: &[u8]) -> Result<usize, TestCaseError> {
    let mut valid = 0;
    macro_rules! check {
        ($($form:ident)*) => {$(
            match $form::from_json(text) {
                Ok(value) => {
                    valid += 1;
                    let again = $form::from_json(value.to_json().as_bytes());
                    prop_assert_eq!(again.map_err(|error| error.to_string()), Ok(value));
                }
                Err(error) => prop_assert!(!error.to_string().is_empty() && !error.code().is_empty()),
            }
        )*};
    }
    check!(DataType Schema TableDescriptor DatabaseDescriptor);
    Ok(valid)
}

/// JSON that uses the keys and words of the Fluss forms in any place.
fn json() -> impl Strategy<Value = serde_json::Value> {
    let key = prop::sample::select(vec![
        "version",
        "columns",
        "name",
        "data_type",
        "type",
        "nullable",
        "length",
        "precision",
        "scale",
        "fields",
        "field_type",
        "field_id",
        "element_type",
        "key_type",
        "value_type",
        "id",
        "primary_key",
        "comment",
        "schema",
        "partition_key",
        "bucket_key",
        "bucket_count",
        "properties",
        "custom_properties",
        "highest_field_id",
        "auto_increment_column",
        "agg_function",
        "parameters",
        "description",
    ]);
    let word = prop::sample::select(vec![
        "INTEGER",
        "ROW",
        "ARRAY",
        "MAP",
        "DECIMAL",
        "CHAR",
        "TIMESTAMP_WITHOUT_TIME_ZONE",
        "a",
        "b",
        "",
        "sum",
    ]);
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(Into::into),
        prop_oneof![-2..40_i64, any::<i64>()].prop_map(Into::into),
        any::<f64>().prop_map(Into::into),
        word.prop_map(Into::into),
    ];
    leaf.prop_recursive(6, 60, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Into::into),
            prop::collection::vec((key.clone(), inner), 0..8).prop_map(|entries| entries
                .into_iter()
                .map(|(key, value)| (key.to_owned(), value))
                .collect()),
        ]
    })
}

/// Types that exist, written as JSON.
fn valid_type() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        prop::sample::select(vec![
            "BOOLEAN", "TINYINT", "INTEGER", "BIGINT", "DOUBLE", "STRING", "BYTES", "DATE"
        ])
        .prop_map(|name| format!(r#"{{"type":"{name}"}}"#)),
        (1..=38_u8, 0..=38_u8).prop_map(|(precision, scale)| format!(
            r#"{{"type":"DECIMAL","precision":{precision},"scale":{}}}"#,
            scale.min(precision)
        )),
        (1..=i32::MAX).prop_map(|length| format!(r#"{{"type":"CHAR","nullable":false,"length":{length}}}"#)),
        (0..=9_u8).prop_map(|precision| format!(
            r#"{{"type":"TIMESTAMP_WITH_LOCAL_TIME_ZONE","precision":{precision}}}"#
        )),
    ];
    leaf.prop_recursive(8, 40, 4, |inner| {
        prop_oneof![
            inner.clone().prop_map(|element| format!(r#"{{"type":"ARRAY","element_type":{element}}}"#)),
            prop::collection::vec(inner, 0..4).prop_map(|types| {
                let fields: Vec<String> = (0..)
                    .zip(types)
                    .map(|(index, data_type): (usize, String)| {
                        format!(r#"{{"name":"f{index}","field_type":{data_type}}}"#)
                    })
                    .collect();
                format!(r#"{{"type":"ROW","nullable":false,"fields":[{}]}}"#, fields.join(","))
            }),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn damaged_forms_are_refused_or_valid(damages in damages(), form in 0..3_usize) {
        let mut text = [SCHEMA, TABLE, DATABASE][form].trim_end().as_bytes().to_vec();
        prop_assert!(read_all(&text)? > 0);
        apply(&damages, &mut text);
        read_all(&text)?;
    }

    #[test]
    fn made_up_forms_are_refused_or_valid(json in json()) {
        read_all(json.to_string().as_bytes())?;
    }

    #[test]
    fn any_text_is_refused_or_valid(text in "\\PC{0,60}", json in "[\\[\\]{}\":,0-9a-z ]{0,80}") {
        read_all(text.as_bytes())?;
        read_all(json.as_bytes())?;
        for text in [text, json] {
            if let Ok(path) = text.parse::<TablePath>() {
                prop_assert_eq!(path.to_string(), text.as_str());
            }
            let keys = ["a".to_owned(), "b".to_owned()];
            if let Ok(name) = PartitionName::parse(&text, &keys) {
                prop_assert_eq!(name.to_string(), text.as_str());
            }
        }
    }

    #[test]
    fn existing_types_are_read_and_written_unchanged(json in valid_type()) {
        let data_type = DataType::from_json(json.as_bytes());
        prop_assert_eq!(data_type.map(|data_type| data_type.to_json()).map_err(|error| error.to_string()), Ok(json));
    }
}
