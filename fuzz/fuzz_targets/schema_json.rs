//! A text read as each of the JSON forms.
#![no_main]

use fluss_codec::data_type::DataType;
use fluss_codec::database::DatabaseDescriptor;
use fluss_codec::key::KeyRules;
use fluss_codec::schema::Schema;
use fluss_codec::table::TableDescriptor;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &[u8]| {
    if let Ok(data_type) = DataType::from_json(text) {
        let _ = data_type.to_string();
        assert_eq!(
            DataType::from_json(data_type.to_json().as_bytes()).expect("it was written here"),
            data_type
        );
    }
    if let Ok(schema) = Schema::from_json(text) {
        assert_eq!(Schema::from_json(schema.to_json().as_bytes()).expect("it was written here"), schema);
    }
    if let Ok(table) = TableDescriptor::from_json(text) {
        let _ = KeyRules::of(&table);
        assert!(table.kind() == fluss_codec::table::TableKind::Log || !table.bucket_keys().is_empty());
        assert_eq!(
            TableDescriptor::from_json(table.to_json().as_bytes()).expect("it was written here"),
            table
        );
    }
    if let Ok(database) = DatabaseDescriptor::from_json(text) {
        let again = DatabaseDescriptor::from_json(database.to_json().as_bytes());
        assert_eq!(again.expect("it was written here"), database);
    }
});
