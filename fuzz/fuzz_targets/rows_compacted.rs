//! Bytes read as a compacted row of a schema chosen by the first bytes.
#![no_main]

mod types;

use bytes::Bytes;
use fluss_codec::data_type::DataType;
use fluss_codec::row::RowFormat;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let mut data = data;
    let types = types::take(&mut data);
    let types: Vec<&DataType> = types.iter().collect();
    let format = RowFormat::Compacted;
    let Ok(values) = format.decode(&types, &Bytes::copy_from_slice(data)) else { return };
    // What another writer made too long, or null where it may not be, is read but not written.
    if let Ok(encoded) = format.encode(&types, &values) {
        let again = format.decode(&types, &Bytes::from(encoded)).expect("it was written here");
        assert_eq!(format!("{again:?}"), format!("{values:?}"));
    }
});
