// Writes keys.tsv, rows.tsv, partitions.tsv and murmur.tsv from the Java classes of Fluss; see README.md.

import java.io.PrintStream;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.fluss.bucketing.BucketingFunction;
import org.apache.fluss.metadata.DataLakeFormat;
import org.apache.fluss.metadata.KvFormat;
import org.apache.fluss.row.BinaryRow;
import org.apache.fluss.row.BinaryString;
import org.apache.fluss.row.Decimal;
import org.apache.fluss.row.GenericRow;
import org.apache.fluss.row.TimestampLtz;
import org.apache.fluss.row.TimestampNtz;
import org.apache.fluss.row.encode.KeyEncoder;
import org.apache.fluss.row.encode.RowEncoder;
import org.apache.fluss.types.DataField;
import org.apache.fluss.types.DataType;
import org.apache.fluss.types.DataTypes;
import org.apache.fluss.types.DecimalType;
import org.apache.fluss.types.RowType;
import org.apache.fluss.utils.MathUtils;
import org.apache.fluss.utils.MurmurHashUtils;
import org.apache.fluss.utils.PartitionUtils;

public final class GoldenVectors {
    static final int BUCKETS = 16;

    static DataType type(String text) {
        String name = text.replaceAll("\\(.*", "");
        String[] args = text.contains("(") ? text.replaceAll(".*\\(|\\)", "").split(",") : new String[0];
        int first = args.length > 0 ? Integer.parseInt(args[0]) : 0;
        switch (name) {
            case "BOOLEAN": return DataTypes.BOOLEAN();
            case "TINYINT": return DataTypes.TINYINT();
            case "SMALLINT": return DataTypes.SMALLINT();
            case "INT": return DataTypes.INT();
            case "BIGINT": return DataTypes.BIGINT();
            case "FLOAT": return DataTypes.FLOAT();
            case "DOUBLE": return DataTypes.DOUBLE();
            case "CHAR": return DataTypes.CHAR(first);
            case "STRING": return DataTypes.STRING();
            case "BINARY": return DataTypes.BINARY(first);
            case "BYTES": return DataTypes.BYTES();
            case "DECIMAL": return DataTypes.DECIMAL(first, Integer.parseInt(args[1]));
            case "DATE": return DataTypes.DATE();
            case "TIME": return DataTypes.TIME(first);
            case "TIMESTAMP": return DataTypes.TIMESTAMP(first);
            case "TIMESTAMP_LTZ": return DataTypes.TIMESTAMP_LTZ(first);
            default: throw new IllegalArgumentException(text);
        }
    }

    static Object value(DataType type, String text) {
        if (text.equals("null")) return null;
        switch (type.getTypeRoot()) {
            case BOOLEAN: return Boolean.valueOf(text);
            case TINYINT: return Byte.valueOf(text);
            case SMALLINT: return Short.valueOf(text);
            case INTEGER: case DATE: case TIME_WITHOUT_TIME_ZONE: return Integer.valueOf(text);
            case BIGINT: return Long.valueOf(text);
            case FLOAT: return Float.valueOf(text);
            case DOUBLE: return Double.valueOf(text);
            case CHAR: case STRING: return BinaryString.fromString(text);
            case BINARY: case BYTES: return unhex(text);
            case DECIMAL: {
                DecimalType decimal = (DecimalType) type;
                BigDecimal number = new BigDecimal(new BigInteger(text), decimal.getScale());
                return Decimal.fromBigDecimal(number, decimal.getPrecision(), decimal.getScale());
            }
            case TIMESTAMP_WITHOUT_TIME_ZONE: {
                String[] parts = text.split(":");
                return TimestampNtz.fromMillis(Long.parseLong(parts[0]), Integer.parseInt(parts[1]));
            }
            case TIMESTAMP_WITH_LOCAL_TIME_ZONE: {
                String[] parts = text.split(":");
                return TimestampLtz.fromEpochMillis(Long.parseLong(parts[0]), Integer.parseInt(parts[1]));
            }
            default: throw new IllegalArgumentException(type.toString());
        }
    }

    static String hex(byte[] bytes) {
        StringBuilder text = new StringBuilder();
        for (byte b : bytes) text.append(String.format("%02x", b));
        return text.toString();
    }

    static byte[] unhex(String text) {
        byte[] bytes = new byte[text.length() / 2];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = (byte) Integer.parseInt(text.substring(2 * i, 2 * i + 2), 16);
        }
        return bytes;
    }

    static String[] split(String text) {
        return text.split("\\|", -1);
    }

    static void key(PrintStream out, String types, String values) {
        String[] typeTexts = split(types);
        String[] valueTexts = split(values);
        List<DataField> fields = new ArrayList<>();
        List<String> names = new ArrayList<>();
        GenericRow row = new GenericRow(typeTexts.length);
        for (int i = 0; i < typeTexts.length; i++) {
            DataType type = type(typeTexts[i]).copy(false);
            fields.add(new DataField("f" + i, type));
            names.add("f" + i);
            row.setField(i, value(type, valueTexts[i]));
        }
        RowType rowType = new RowType(fields);
        StringBuilder line = new StringBuilder(types + "\t" + values);
        for (DataLakeFormat lake : new DataLakeFormat[] {null, DataLakeFormat.PAIMON, DataLakeFormat.ICEBERG}) {
            try {
                byte[] bytes = KeyEncoder.ofBucketKeyEncoder(rowType, names, lake).encodeKey(row);
                int bucket = BucketingFunction.of(lake).bucketing(bytes, BUCKETS);
                line.append("\t").append(hex(bytes)).append("\t").append(bucket);
            } catch (RuntimeException e) {
                line.append("\tunsupported\t-");
            }
        }
        out.println(line);
    }

    static void row(PrintStream out, String types, String values) throws Exception {
        String[] typeTexts = split(types);
        String[] valueTexts = split(values);
        DataType[] columns = Arrays.stream(typeTexts).map(GoldenVectors::type).toArray(DataType[]::new);
        for (KvFormat format : new KvFormat[] {KvFormat.COMPACTED, KvFormat.INDEXED}) {
            RowEncoder encoder = RowEncoder.create(format, columns);
            encoder.startNewRow();
            for (int i = 0; i < columns.length; i++) encoder.encodeField(i, value(columns[i], valueTexts[i]));
            BinaryRow row = encoder.finishRow();
            byte[] bytes = new byte[row.getSizeInBytes()];
            row.copyTo(bytes, 0);
            out.println(format + "\t" + types + "\t" + values + "\t" + hex(bytes));
        }
    }

    static void partition(PrintStream out, String type, String text) {
        DataType dataType = type(type);
        Object value = value(dataType, text);
        out.println(type + "\t" + text + "\t" + PartitionUtils.convertValueOfType(value, dataType.getTypeRoot()));
    }

    public static void main(String[] args) throws Exception {
        try (PrintStream out = new PrintStream(args[0] + "/keys.tsv", "UTF-8")) {
            out.println("# types\tvalues\tcompacted\tfluss bucket\tpaimon\tpaimon bucket\ticeberg\ticeberg bucket");
            for (String[] k : new String[][] {
                {"INT", "0"}, {"INT", "1"}, {"INT", "-1"}, {"INT", "300"}, {"INT", "2147483647"}, {"INT", "-2147483648"},
                {"BIGINT", "-2"}, {"BIGINT", "123456789012"}, {"BIGINT", "9223372036854775807"}, {"BIGINT", "-9223372036854775808"},
                {"SMALLINT", "258"}, {"SMALLINT", "-2"}, {"TINYINT", "7"}, {"TINYINT", "-7"},
                {"BOOLEAN", "true"}, {"BOOLEAN", "false"},
                {"STRING", "a"}, {"STRING", "é€"}, {"STRING", "1234567"}, {"STRING", "12345678"},
                {"STRING", "fluss-bucket-key"}, {"CHAR(5)", "ab"}, {"CHAR(9)", "abcdefghi"},
                {"BYTES", "ff00"}, {"BYTES", "000102030405060708090a"}, {"BINARY(3)", "ff0001"},
                {"DATE", "19000"}, {"DATE", "-1"}, {"TIME(3)", "3661001"}, {"TIME(0)", "0"},
                {"TIMESTAMP(3)", "1700000000123:0"}, {"TIMESTAMP(6)", "1700000000123:456000"},
                {"TIMESTAMP(9)", "-1:999999"}, {"TIMESTAMP(0)", "-1000:0"},
                {"TIMESTAMP_LTZ(3)", "1700000000123:0"}, {"TIMESTAMP_LTZ(9)", "1700000000123:456789"},
                {"DECIMAL(10,2)", "-1234"}, {"DECIMAL(18,0)", "999999999999999999"},
                {"DECIMAL(20,2)", "1234567890123456789"}, {"DECIMAL(38,0)", "-99999999999999999999999999999999999999"},
                {"DECIMAL(38,10)", "0"},
                {"DOUBLE", "1.5"}, {"DOUBLE", "-0.0"}, {"FLOAT", "-2.25"},
                {"INT|STRING", "300|é"}, {"STRING|BIGINT|DATE", "fluss-bucket-key|-2|19000"},
                {"STRING|STRING|DECIMAL(20,2)|TIMESTAMP(6)", "longer-than-7|longer-than-15-bytes|-129|5:6"},
            }) key(out, k[0], k[1]);
            // More than 56 columns: the null bits of a Paimon row take two words.
            String[] types = new String[57];
            String[] values = new String[57];
            for (int i = 0; i < 57; i++) { types[i] = "TINYINT"; values[i] = Integer.toString(i); }
            key(out, String.join("|", types), String.join("|", values));
        }
        try (PrintStream out = new PrintStream(args[0] + "/rows.tsv", "UTF-8")) {
            out.println("# format\ttypes\tvalues\trow");
            String six = "INT|STRING|BIGINT|DECIMAL(20,2)|TIMESTAMP(6)|BOOLEAN";
            row(out, six, "-1|hi|5|100|1000:7|true");
            row(out, six, "7|null|null|null|null|false");
            String all = "BOOLEAN|TINYINT|SMALLINT|INT|BIGINT|FLOAT|DOUBLE|CHAR(5)|STRING|BINARY(3)|BYTES|DECIMAL(18,4)"
                + "|DECIMAL(38,4)|DATE|TIME(3)|TIMESTAMP(0)|TIMESTAMP(9)|TIMESTAMP_LTZ(3)|TIMESTAMP_LTZ(6)";
            row(out, all, "true|-128|-32768|-2147483648|-9223372036854775808|-0.5|1.0E300|é|naïve €|ff0001|00ff00ff"
                + "|-999999999999999999|99999999999999999999999999999999999999|-719162|86399999|-62135596800000:0"
                + "|253402300799999:999999|1700000000123:0|1700000000123:456789");
            row(out, all, "false|127|32767|2147483647|9223372036854775807|3.4028235E38|4.9E-324|abcde||010203|"
                + "|0|-1|0|0|0:0|0:0|-1:0|-1:1");
            String[] nulls = new String[split(all).length];
            Arrays.fill(nulls, "null");
            row(out, all, String.join("|", nulls));
            String strings = "STRING|BYTES|STRING|STRING";
            row(out, strings, "a|null|bb|null");
            row(out, strings, "null|01|null|ccc");
        }
        try (PrintStream out = new PrintStream(args[0] + "/partitions.tsv", "UTF-8")) {
            out.println("# type\tvalue\tstring");
            for (String[] p : new String[][] {
                {"FLOAT", "1.0"}, {"FLOAT", "-3.4028235E38"}, {"FLOAT", "0.1"}, {"FLOAT", "NaN"}, {"FLOAT", "-Infinity"},
                {"FLOAT", "1.6777216E7"}, {"FLOAT", "9999999.0"}, {"FLOAT", "0.001"}, {"FLOAT", "1.4E-45"},
                {"DOUBLE", "1.0E10"}, {"DOUBLE", "1.0E-5"}, {"DOUBLE", "0.0"}, {"DOUBLE", "-0.0"}, {"DOUBLE", "1234567.125"},
                {"DOUBLE", "1.0E7"}, {"DOUBLE", "9999999.999"}, {"DOUBLE", "0.00123"}, {"DOUBLE", "9.99E-4"},
                {"DOUBLE", "Infinity"}, {"DOUBLE", "1.7976931348623157E308"}, {"DOUBLE", "4.9E-324"},
                {"TIMESTAMP(6)", "0:0"}, {"TIMESTAMP(6)", "1700000000120:5000"}, {"TIMESTAMP(9)", "-1:999999"},
                {"TIMESTAMP(3)", "1700000000100:0"}, {"TIMESTAMP_LTZ(6)", "951782400000:1000"},
                {"TIMESTAMP(0)", "-62135596800000:0"}, {"TIMESTAMP(9)", "253402300799999:999999"},
                {"TIME(3)", "3661001"}, {"TIME(0)", "0"}, {"TIME(3)", "86399999"},
                {"DATE", "-1"}, {"DATE", "0"}, {"DATE", "11016"}, {"DATE", "-719162"}, {"DATE", "2932897"},
                {"BOOLEAN", "true"}, {"BOOLEAN", "false"}, {"TINYINT", "-128"}, {"BIGINT", "9223372036854775807"},
                {"STRING", "eu-west_1"}, {"CHAR(2)", "de"}, {"BYTES", "00ff0a"}, {"BINARY(2)", "ab01"},
            }) partition(out, p[0], p[1]);
        }
        try (PrintStream out = new PrintStream(args[0] + "/murmur.tsv", "UTF-8")) {
            out.println("# bytes\tM\tmurmur_int(M)");
            for (String bytes : new String[] {
                "61", "6162", "61626364", "ff", "80ff7f", "0102030405060708", "00", "ffffffff", "ffffffffff",
                "000102030405060708090a0b0c0d0e0f10",
            }) {
                int hash = MurmurHashUtils.hashBytes(unhex(bytes));
                out.println(bytes + "\t" + hash + "\t" + MathUtils.murmurHash(hash));
            }
        }
    }
}
