//! Text read as JSON rows of a schema chosen by the first bytes; what is read is written and read again.
#![no_main]

mod types;

use fluss_codec::value_json::{self, Missing};
use libfuzzer_sys::fuzz_target;

const LIMIT: usize = 100;

fuzz_target!(|data: &[u8]| {
    let mut data = data;
    let choice = types::next(&mut data);
    let types = types::take(&mut data);
    let schema = types::schema(&types, choice & 1 == 1);
    let Ok(text) = std::str::from_utf8(data) else { return };
    let missing = if choice & 2 == 0 { Missing::Nullable } else { Missing::Any };
    for kind in &types {
        let _ = value_json::read_value(kind, text);
    }
    let rows = match value_json::read_rows(schema.columns(), text, missing, LIMIT) {
        Ok(rows) => rows,
        Err(error) => {
            assert!(!error.code().is_empty());
            return;
        }
    };
    for row in rows {
        let mut written = Vec::new();
        value_json::write_row(schema.columns(), &row.values, &mut written).expect("the values are of their types");
        let written = String::from_utf8(written).expect("JSON is UTF-8");
        match value_json::read_row(schema.columns(), &written, Missing::Any) {
            Ok(again) => assert_eq!(format!("{:?}", again.values), format!("{:?}", row.values)),
            // A column left out of a partial row is null, which the column may not take.
            Err(error) => assert_eq!(error.code(), "json_value_missing"),
        }
    }
});
