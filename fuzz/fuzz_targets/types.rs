//! Types chosen by the first bytes of an input.

use fluss_codec::data_type::{DataType, RowField, TypeKind};
use fluss_codec::schema::Schema;

/// Takes types off the front of the input, as many as its first byte says.
pub fn take(data: &mut &[u8]) -> Vec<DataType> {
    let count = next(data) % 12;
    (0..count).map(|_| data_type(data, 3)).collect()
}

/// Makes a schema of the types, none of them null if the flag says so.
pub fn schema(types: &[DataType], not_null: bool) -> Schema {
    let named = types.iter().enumerate();
    let builder = named.fold(Schema::builder(), |builder, (position, kind)| {
        let kind = if not_null { kind.clone().not_null() } else { kind.clone() };
        builder.column(format!("c{position}"), kind)
    });
    builder.build().expect("names and ids are unique")
}

/// Takes one byte; 0 once they are used up.
pub fn next(data: &mut &[u8]) -> u8 {
    let Some((first, rest)) = data.split_first() else { return 0 };
    *data = rest;
    *first
}

fn data_type(data: &mut &[u8], depth: u8) -> DataType {
    let choice = next(data);
    let parameter = choice >> 5;
    let kind = match choice & 0x1f {
        0 => TypeKind::Boolean,
        1 => TypeKind::TinyInt,
        2 => TypeKind::SmallInt,
        3 => TypeKind::Int,
        4 => TypeKind::BigInt,
        5 => TypeKind::Float,
        6 => TypeKind::Double,
        7 => TypeKind::Char { length: u32::from(parameter) + 1 },
        8 => TypeKind::String,
        9 => TypeKind::Binary { length: u32::from(parameter) + 1 },
        10 => TypeKind::Bytes,
        11 => TypeKind::Decimal { precision: parameter * 5 + 1, scale: parameter },
        12 => TypeKind::Date,
        13 => TypeKind::Time { precision: parameter },
        14 => TypeKind::Timestamp { precision: parameter + 2 },
        15 => TypeKind::TimestampLtz { precision: parameter },
        16..=20 if depth > 0 => TypeKind::Array(Box::new(data_type(data, depth - 1))),
        21..=25 if depth > 0 => {
            TypeKind::Map(Box::new(data_type(data, depth - 1)), Box::new(data_type(data, depth - 1)))
        }
        26..=31 if depth > 0 => {
            let fields = (0..parameter).map(|index| RowField::new(format!("f{index}"), data_type(data, depth - 1)));
            TypeKind::Row(fields.collect())
        }
        _ => TypeKind::Int,
    };
    DataType::new(kind).expect("all parameters are within bounds")
}
