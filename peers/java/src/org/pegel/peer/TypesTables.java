package org.pegel.peer;

import static org.apache.fluss.row.BinaryString.fromString;
import static org.apache.fluss.types.DataTypes.*;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

import org.apache.fluss.metadata.Schema;
import org.apache.fluss.metadata.TableDescriptor;
import org.apache.fluss.metadata.TablePath;
import org.apache.fluss.row.Decimal;
import org.apache.fluss.row.GenericArray;
import org.apache.fluss.row.GenericMap;
import org.apache.fluss.row.GenericRow;
import org.apache.fluss.row.TimestampLtz;
import org.apache.fluss.row.TimestampNtz;

/** Database {@code types}: each data type with its edge values, and names at their limits. */
final class TypesTables {
    static final String DATABASE = "types";

    /** The longest name that a table may have. */
    static final String LONGEST_NAME = "n".repeat(197) + "-_9";

    private TypesTables() {}

    static List<SampleTable> all() {
        return List.of(everyTypeLog(), everyTypeKey(), longestName());
    }

    private static Schema.Builder scalars() {
        return Schema.newBuilder()
                .column("id", BIGINT().copy(false)).withComment("row number")
                .column("a_boolean", BOOLEAN())
                .column("a_tinyint", TINYINT())
                .column("a_smallint", SMALLINT())
                .column("an_int", INT())
                .column("a_bigint", BIGINT())
                .column("a_float", FLOAT())
                .column("a_double", DOUBLE())
                .column("a_char", CHAR(5))
                .column("a_string", STRING())
                .column("a_decimal_short", DECIMAL(9, 3))
                .column("a_decimal_long", DECIMAL(38, 18))
                .column("a_date", DATE())
                .column("a_time", TIME(3))
                .column("a_timestamp_s", TIMESTAMP(0))
                .column("a_timestamp_ms", TIMESTAMP(3))
                .column("a_timestamp_ns", TIMESTAMP(9))
                .column("a_timestamp_ltz_us", TIMESTAMP_LTZ(6))
                .column("a_timestamp_ltz_ns", TIMESTAMP_LTZ(9))
                .column("a_binary", BINARY(4))
                .column("some_bytes", BYTES());
    }

    private static SampleTable everyTypeLog() {
        var schema = scalars()
                .column("an_array", ARRAY(INT()))
                .column("an_array_of_arrays", ARRAY(ARRAY(STRING())))
                .column("a_map", MAP(STRING().copy(false), BIGINT()))
                .column("a_row", ROW(
                        FIELD("x", INT(), "first of two"),
                        FIELD("y", ARRAY(ROW(FIELD("label", STRING()), FIELD("weight", DOUBLE()))))))
                .build();
        var descriptor = TableDescriptor.builder()
                .schema(schema)
                .comment("Every data type, nested ones too; rows with smallest, largest, null and ordinary values")
                .distributedBy(2, "id")
                .build();
        return table("every_type_log", descriptor, 400, (n, random) -> {
            var fields = scalarFields(n, random);
            fields.addAll(nestedFields(n, random));
            return GenericRow.of(fields.toArray());
        });
    }

    private static SampleTable everyTypeKey() {
        var schema = scalars().primaryKey("id").build();
        var descriptor = TableDescriptor.builder()
                .schema(schema)
                .comment("Every scalar data type below a primary key")
                .distributedBy(2, "id")
                .build();
        return table("every_type_pk", descriptor, 400, (n, random) -> GenericRow.of(scalarFields(n, random).toArray()));
    }

    private static SampleTable longestName() {
        var schema = Schema.newBuilder()
                .column("c".repeat(120), STRING()).withComment("a name that no table column is made for: " + "long ".repeat(30))
                .build();
        var descriptor = TableDescriptor.builder()
                .schema(schema)
                .comment("A name of 200 characters")
                .distributedBy(1)
                .build();
        return table(LONGEST_NAME, descriptor, 50, (n, random) -> GenericRow.of(
                fromString("row " + n + " " + "wide ".repeat(random.nextInt(40)))));
    }

    /** Makes the scalar columns: rows 0 mod 8 smallest, 1 largest, 2 all null, 3 odd text, the rest ordinary. */
    private static List<Object> scalarFields(long n, Random random) {
        var fields = new ArrayList<Object>();
        fields.add(n);
        switch ((int) (n % 8)) {
            case 0 -> fields.addAll(smallest());
            case 1 -> fields.addAll(largest());
            case 2 -> {
                for (int i = 0; i < 20; i++) {
                    fields.add(null);
                }
            }
            default -> fields.addAll(ordinary(n, random));
        }
        return fields;
    }

    private static List<Object> smallest() {
        var least = new BigDecimal(BigInteger.TEN.pow(38).subtract(BigInteger.ONE).negate(), 18);
        return List.of(
                false, Byte.MIN_VALUE, Short.MIN_VALUE, Integer.MIN_VALUE, Long.MIN_VALUE, Float.NEGATIVE_INFINITY,
                -Double.MAX_VALUE, fromString(""), fromString(""), Decimal.fromUnscaledLong(-999_999_999, 9, 3),
                Decimal.fromBigDecimal(least, 38, 18), -719_162, 0, TimestampNtz.fromMillis(-62_135_596_800_000L),
                TimestampNtz.fromMillis(-62_135_596_800_000L), TimestampNtz.fromMillis(-1, 1),
                TimestampLtz.fromEpochMillis(-1, 999_000), TimestampLtz.fromEpochMillis(-1, 1), new byte[4], new byte[0]);
    }

    private static List<Object> largest() {
        var most = new BigDecimal(BigInteger.TEN.pow(38).subtract(BigInteger.ONE), 18);
        return List.of(
                true, Byte.MAX_VALUE, Short.MAX_VALUE, Integer.MAX_VALUE, Long.MAX_VALUE, Float.NaN, Double.MAX_VALUE,
                fromString("zzzzz"), fromString("ü".repeat(2000)), Decimal.fromUnscaledLong(999_999_999, 9, 3),
                Decimal.fromBigDecimal(most, 38, 18), 2_932_896, 86_399_999, TimestampNtz.fromMillis(253_402_300_799_000L),
                TimestampNtz.fromMillis(253_402_300_799_999L), TimestampNtz.fromMillis(4_102_444_800_000L, 999_999),
                TimestampLtz.fromEpochMillis(4_102_444_800_000L, 999_000),
                TimestampLtz.fromEpochMillis(4_102_444_800_000L, 999_999), new byte[] {-1, -1, -1, -1}, bytes(3000));
    }

    private static List<Object> ordinary(long n, Random random) {
        String text = n % 8 == 3 ? "=1+1\t\"quoted\",\n<b>µ 数据 🚰</b>\u202e" : "value " + n;
        long now = System.currentTimeMillis();
        return List.of(
                random.nextBoolean(), (byte) random.nextInt(), (short) random.nextInt(), random.nextInt(),
                9_007_199_254_740_993L + n, random.nextFloat(), 0.1 + n, fromString("ab"), fromString(text),
                Decimal.fromUnscaledLong(random.nextInt(1_000_000), 9, 3),
                Decimal.fromBigDecimal(new BigDecimal("1.000000000000000001"), 38, 18), 19_000 + (int) (n % 2000),
                random.nextInt(86_400_000), TimestampNtz.fromMillis(now / 1000 * 1000), TimestampNtz.fromMillis(now),
                TimestampNtz.fromMillis(now, 123_456), TimestampLtz.fromEpochMillis(now, 123_000),
                TimestampLtz.fromEpochMillis(now, 123_456), ("k" + n % 1000 + "   ").substring(0, 4).getBytes(StandardCharsets.US_ASCII),
                bytes(random.nextInt(40)));
    }

    private static List<Object> nestedFields(long n, Random random) {
        var fields = new ArrayList<Object>();
        if (n % 8 == 2) {
            for (int i = 0; i < 4; i++) {
                fields.add(null);
            }
            return fields;
        }
        fields.add(GenericArray.of(random.nextInt(), null, (int) n));
        fields.add(GenericArray.of(
                GenericArray.of(fromString("a"), fromString("b")), GenericArray.of(), GenericArray.of((Object) null)));
        Map<Object, Object> map = new HashMap<>();
        map.put(fromString("n"), n);
        map.put(fromString("nothing"), null);
        fields.add(new GenericMap(map));
        fields.add(GenericRow.of(
                (int) n,
                GenericArray.of(GenericRow.of(fromString("half"), 0.5), GenericRow.of(null, (double) n))));
        return fields;
    }

    private static byte[] bytes(int length) {
        var bytes = new byte[length];
        for (int i = 0; i < length; i++) {
            bytes[i] = (byte) i;
        }
        return bytes;
    }

    private static SampleTable table(String name, TableDescriptor descriptor, int initialRows, SampleTable.Rows rows) {
        return new SampleTable(TablePath.of(DATABASE, name), descriptor, List.of(), initialRows, 0, rows);
    }
}
