//! Names in questions: checked, and told by field.

use fluss_codec::name::{TablePath, validate_database_name, validate_table_name};

use crate::failure::Failure;

/// Checks the name of a database.
///
/// # Errors
/// `invalid` at `/database`.
pub(super) fn check_database(name: &str) -> Result<(), Failure> {
    validate_database_name(name).map_err(|error| Failure::invalid_field("/database", error.to_string()))
}

/// Checks the names of a database and a table.
///
/// # Errors
/// `invalid` at `/database` or `/table`.
pub(super) fn table_path(database: &str, table: &str) -> Result<TablePath, Failure> {
    check_database(database)?;
    let at_table = |message: String| Failure::invalid_field("/table", message);
    validate_table_name(table).map_err(|error| at_table(error.to_string()))?;
    TablePath::new(database, table).map_err(|error| at_table(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bad_name_is_told_with_its_field() {
        let pointer = |database, table| table_path(database, table).unwrap_err().pointer;
        assert_eq!(pointer("a/b", "t"), Some("/database"));
        assert_eq!(pointer("a", ""), Some("/table"));
        assert_eq!(table_path("shop", "orders").unwrap().to_string(), "shop.orders");
    }
}
