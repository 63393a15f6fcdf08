//! The description of a table as the SQL statement that makes such a table through Flink's connector.
//!
//! Identifiers are always quoted, so that no name reads as SQL. What SQL has no clause for goes where the connector
//! takes it from: `bucket.num`, `bucket.key`, `auto-increment.fields` and `fields.<column>.agg` among the options.
//! Source: `FlinkConversions` and `FlinkConnectorOptions`, 0.9.1.

use crate::data_type::{DataType, TypeKind};
use crate::schema::{Column, Schema};
use crate::table::TableDescriptor;

/// Returns the statement, ending in a semicolon.
///
/// It makes the table anew: ids of table, schema and columns are not part of it.
pub fn create_table(database: &str, table: &str, descriptor: &TableDescriptor) -> String {
    let schema = descriptor.schema();
    let mut lines: Vec<String> = schema.columns().iter().map(column).collect();
    if schema.has_primary_key() {
        lines.push(format!("PRIMARY KEY ({}) NOT ENFORCED", identifiers(schema.primary_key())));
    }
    let mut statement = format!(
        "CREATE TABLE {}.{} (\n  {}\n)",
        identifier(database),
        identifier(table),
        lines.join(",\n  ")
    );
    if let Some(comment) = descriptor.comment() {
        statement.push_str(&format!(" COMMENT {}", literal(comment)));
    }
    if descriptor.is_partitioned() {
        statement.push_str(&format!("\nPARTITIONED BY ({})", identifiers(descriptor.partition_keys())));
    }
    let options = options(schema, descriptor);
    if !options.is_empty() {
        let lines: Vec<String> =
            options.iter().map(|(key, value)| format!("{} = {}", literal(key), literal(value))).collect();
        statement.push_str(&format!("\nWITH (\n  {}\n)", lines.join(",\n  ")));
    }
    statement.push(';');
    statement
}

fn column(column: &Column) -> String {
    let mut line = format!("{} {}", identifier(&column.name), sql_type(&column.data_type));
    if let Some(comment) = &column.comment {
        line.push_str(&format!(" COMMENT {}", literal(comment)));
    }
    line
}

fn options(schema: &Schema, descriptor: &TableDescriptor) -> Vec<(String, String)> {
    let mut options = Vec::new();
    if let Some(count) = descriptor.bucket_count() {
        options.push(("bucket.num".to_owned(), count.to_string()));
    }
    let is_default = schema.has_primary_key() && descriptor.has_default_bucket_keys();
    let bucket_keys = if is_default { Vec::new() } else { descriptor.bucket_keys() };
    if !bucket_keys.is_empty() {
        options.push(("bucket.key".to_owned(), bucket_keys.join(",")));
    }
    if let Some(name) = schema.auto_increment() {
        options.push(("auto-increment.fields".to_owned(), name.to_owned()));
    }
    for column in schema.columns() {
        let Some(aggregation) = &column.aggregation else { continue };
        let function = aggregation.function.name();
        options.push((format!("fields.{}.agg", column.name), function.to_owned()));
        for (key, value) in aggregation.parameters.iter() {
            options.push((format!("fields.{}.{function}.{key}", column.name), value.to_owned()));
        }
    }
    let properties = descriptor.properties().iter().chain(descriptor.custom_properties().iter());
    options.extend(properties.map(|(key, value)| (key.to_owned(), value.to_owned())));
    options
}

/// Returns the type in SQL, with `NOT NULL` where null is not allowed.
fn sql_type(data_type: &DataType) -> String {
    let name = match data_type.kind() {
        TypeKind::Array(element) => format!("ARRAY<{}>", sql_type(element)),
        // The keys of a map are never null in Fluss, which SQL need not be told.
        TypeKind::Map(key, value) => {
            format!("MAP<{}, {}>", sql_type(&key.as_ref().clone().nullable()), sql_type(value))
        }
        TypeKind::Row(fields) => {
            let fields: Vec<String> = fields
                .iter()
                .map(|field| {
                    let comment = field.description.as_deref().map(|text| format!(" {}", literal(text)));
                    let data_type = sql_type(&field.data_type);
                    format!("{} {data_type}{}", identifier(&field.name), comment.unwrap_or_default())
                })
                .collect();
            format!("ROW<{}>", fields.join(", "))
        }
        _ => return data_type.to_string(),
    };
    if data_type.is_nullable() { name } else { format!("{name} NOT NULL") }
}

fn identifiers(names: &[String]) -> String {
    names.iter().map(|name| identifier(name)).collect::<Vec<_>>().join(", ")
}

fn identifier(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}

fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data_type::RowField;

    fn of(kind: TypeKind) -> DataType {
        DataType::new(kind).unwrap()
    }

    #[test]
    fn a_plain_log_table_needs_little() {
        let schema = Schema::builder().column("a", of(TypeKind::Int)).build().unwrap();
        let table = TableDescriptor::builder(schema).build().unwrap();
        assert_eq!(create_table("db", "t", &table), "CREATE TABLE `db`.`t` (\n  `a` INT\n);");
    }

    #[test]
    fn everything_a_table_has_is_in_the_statement() {
        let schema = Schema::from_json(
            br#"{"version":1,"columns":[
                {"name":"day","data_type":{"type":"STRING","nullable":false},"id":0},
                {"name":"i`d","data_type":{"type":"BIGINT","nullable":false},"comment":"it's","id":1},
                {"name":"k","data_type":{"type":"INTEGER","nullable":false},"id":5},
                {"name":"n","data_type":{"type":"INTEGER"},"id":2},
                {"name":"l","data_type":{"type":"STRING"},"agg_function":{"type":"listagg","parameters":{"delimiter":";"}},"id":3},
                {"name":"m","data_type":{"type":"MAP","key_type":{"type":"STRING","nullable":false},"value_type":{"type":"ARRAY","nullable":false,"element_type":{"type":"DECIMAL","precision":5,"scale":2}}},"id":4}],
               "primary_key":["day","i`d","k"],"auto_increment_column":["n"],"highest_field_id":5}"#,
        );
        let schema = schema.unwrap();
        let table = TableDescriptor::builder(schema)
            .comment("a 'table'")
            .partitioned_by(["day"])
            .distributed_by(Some(3), ["i`d"])
            .property("table.merge-engine", "aggregation")
            .custom_property("owner", "o'neil")
            .build()
            .unwrap();
        let expected = "CREATE TABLE `db`.`t` (\n  `day` STRING NOT NULL,\n  `i``d` BIGINT NOT NULL COMMENT 'it''s',\n  \
            `k` INT NOT NULL,\n  `n` INT,\n  `l` STRING,\n  `m` MAP<STRING, ARRAY<DECIMAL(5, 2)> NOT NULL>,\n  \
            PRIMARY KEY (`day`, `i``d`, `k`) NOT ENFORCED\n) COMMENT 'a ''table'''\nPARTITIONED BY (`day`)\nWITH (\n  \
            'bucket.num' = '3',\n  'bucket.key' = 'i`d',\n  'auto-increment.fields' = 'n',\n  'fields.l.agg' = 'listagg',\n  \
            'fields.l.listagg.delimiter' = ';',\n  'table.merge-engine' = 'aggregation',\n  'owner' = 'o''neil'\n);";
        assert_eq!(create_table("db", "t", &table), expected);
    }

    #[test]
    fn fields_of_rows_are_quoted_and_keep_their_comments() {
        let mut field = RowField::new("from", of(TypeKind::Timestamp { precision: 3 }).not_null());
        field.description = Some("when".to_owned());
        let row = of(TypeKind::Row(vec![field])).not_null();
        assert_eq!(sql_type(&row), "ROW<`from` TIMESTAMP(3) NOT NULL 'when'> NOT NULL");
    }
}
