package org.pegel.peer;

import java.io.BufferedReader;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

import org.apache.fluss.bucketing.BucketingFunction;
import org.apache.fluss.compression.ArrowCompressionInfo;
import org.apache.fluss.compression.ArrowCompressionType;
import org.apache.fluss.config.Configuration;
import org.apache.fluss.config.TableConfig;
import org.apache.fluss.memory.UnmanagedPagedOutputView;
import org.apache.fluss.metadata.KvFormat;
import org.apache.fluss.metadata.Schema;
import org.apache.fluss.metadata.SchemaGetter;
import org.apache.fluss.metadata.SchemaInfo;
import org.apache.fluss.metadata.TableDescriptor;
import org.apache.fluss.record.ChangeType;
import org.apache.fluss.record.DefaultKvRecordBatch;
import org.apache.fluss.record.KvRecord;
import org.apache.fluss.record.KvRecordBatchBuilder;
import org.apache.fluss.record.KvRecordReadContext;
import org.apache.fluss.record.LogRecord;
import org.apache.fluss.record.LogRecordBatch;
import org.apache.fluss.record.LogRecordReadContext;
import org.apache.fluss.record.MemoryLogRecords;
import org.apache.fluss.record.MemoryLogRecordsArrowBuilder;
import org.apache.fluss.record.MemoryLogRecordsCompactedBuilder;
import org.apache.fluss.record.MemoryLogRecordsIndexedBuilder;
import org.apache.fluss.record.bytesview.BytesView;
import org.apache.fluss.row.BinaryRow;
import org.apache.fluss.row.BinaryString;
import org.apache.fluss.row.Decimal;
import org.apache.fluss.row.GenericArray;
import org.apache.fluss.row.GenericMap;
import org.apache.fluss.row.GenericRow;
import org.apache.fluss.row.InternalArray;
import org.apache.fluss.row.InternalMap;
import org.apache.fluss.row.InternalRow;
import org.apache.fluss.row.TimestampLtz;
import org.apache.fluss.row.TimestampNtz;
import org.apache.fluss.row.arrow.ArrowWriterPool;
import org.apache.fluss.row.compacted.CompactedRow;
import org.apache.fluss.row.compacted.CompactedRowDeserializer;
import org.apache.fluss.row.encode.KeyEncoder;
import org.apache.fluss.row.encode.RowEncoder;
import org.apache.fluss.row.indexed.IndexedRow;
import org.apache.fluss.shaded.arrow.org.apache.arrow.memory.RootAllocator;
import org.apache.fluss.shaded.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.apache.fluss.shaded.jackson2.com.fasterxml.jackson.databind.ObjectMapper;
import org.apache.fluss.types.ArrayType;
import org.apache.fluss.types.DataType;
import org.apache.fluss.types.DecimalType;
import org.apache.fluss.types.MapType;
import org.apache.fluss.types.RowType;

/**
 * Writes and reads rows and batches with the official classes, without a cluster: a JSON object a line on standard
 * input, a JSON object a line on standard output, in order.
 *
 * <p>A question has {@code do} and {@code schema} (Fluss's JSON); bytes are hexadecimal. An answer is
 * {@code {"ok": <value>}} or {@code {"error": <text>}}.
 *
 * <ul>
 *   <li>{@code encode_row} ({@code format}, {@code row}) and {@code decode_row} ({@code format}, {@code bytes})
 *   <li>{@code encode_log} ({@code format}, {@code compression}, {@code append_only}, {@code records}: pairs of change
 *       type and row) and {@code decode_log} ({@code format}, {@code bytes}; perhaps {@code columns}, to which a server
 *       has cut the batch)
 *   <li>{@code encode_kv} ({@code format}, {@code records}: pairs of key and row or null) and {@code decode_kv}
 *   <li>{@code keys} ({@code table}: JSON of the table, {@code row}): bytes of bucket key and primary key, and bucket
 * </ul>
 *
 * <p>Batches have schema 1, writer 9 and sequence 3. In values, integers, dates and times are numbers, FLOAT and DOUBLE
 * are the numbers of their bits, DECIMAL is its unscaled number as a text, TIMESTAMP {@code "milliseconds:nanoseconds"},
 * bytes are hexadecimal, ARRAY and ROW are lists and MAP is a list of pairs.
 */
public final class Codec {
    private static final int SCHEMA_ID = 1;
    private static final long WRITER_ID = 9;
    private static final int SEQUENCE = 3;
    private static final int PAGE_BYTES = 4 * 1024 * 1024;

    private final ObjectMapper json = new ObjectMapper();

    private Codec() {}

    public static void main(String[] arguments) throws Exception {
        var questions = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        var answers = new PrintStream(new FileOutputStream(FileDescriptor.out), true, StandardCharsets.UTF_8);
        var codec = new Codec();
        String line;
        while ((line = questions.readLine()) != null) {
            if (!line.isBlank()) {
                answers.println(codec.json.writeValueAsString(codec.answer(line)));
            }
        }
        Runtime.getRuntime().halt(0);
    }

    private Map<String, Object> answer(String line) {
        var answer = new LinkedHashMap<String, Object>();
        try {
            answer.put("ok", about(json.readTree(line)));
        } catch (Exception | AssertionError failed) {
            answer.put("error", failed.toString());
        }
        return answer;
    }

    private Object about(JsonNode question) throws Exception {
        if (question.get("do").textValue().equals("keys")) {
            return keys(question);
        }
        Schema schema = Schema.fromJsonBytes(json.writeValueAsBytes(question.get("schema")));
        return switch (question.get("do").textValue()) {
            case "encode_row" -> hex(encodeRow(question, schema.getRowType(), question.get("row")));
            case "decode_row" -> decodeRow(question, schema.getRowType());
            case "encode_log" -> encodeLog(question, schema.getRowType());
            case "decode_log" -> decodeLog(question, schema);
            case "encode_kv" -> encodeKv(question, schema.getRowType());
            case "decode_kv" -> decodeKv(question, schema);
            default -> throw new IllegalArgumentException(question.get("do").textValue());
        };
    }

    private static KvFormat kvFormat(JsonNode question) {
        return KvFormat.valueOf(question.get("format").textValue());
    }

    private static BinaryRow encodeRow(JsonNode question, RowType type, JsonNode values) throws Exception {
        // The encoder reuses its buffers, and what they hold may show in slots that are null.
        RowEncoder encoder = RowEncoder.create(kvFormat(question), type);
        encoder.startNewRow();
        for (int i = 0; i < type.getFieldCount(); i++) {
            encoder.encodeField(i, value(type.getTypeAt(i), values.get(i)));
        }
        return encoder.finishRow();
    }

    private static Object decodeRow(JsonNode question, RowType type) {
        byte[] bytes = unhex(question.get("bytes"));
        DataType[] types = type.getChildren().toArray(new DataType[0]);
        InternalRow row = kvFormat(question) == KvFormat.INDEXED
                ? IndexedRow.from(types, bytes)
                : CompactedRow.from(types, bytes, new CompactedRowDeserializer(types));
        return fields(type, row);
    }

    private static Object encodeLog(JsonNode question, RowType type) throws Exception {
        boolean appendOnly = question.get("append_only").booleanValue();
        var output = new UnmanagedPagedOutputView(PAGE_BYTES);
        String format = question.get("format").textValue();
        if (!format.equals("ARROW")) {
            return encodeRowLog(question, type, appendOnly, output);
        }
        var compression = ArrowCompressionType.valueOf(question.get("compression").textValue());
        try (var allocator = new RootAllocator(); var pool = new ArrowWriterPool(allocator)) {
            var writer = pool.getOrCreateWriter(
                    1, SCHEMA_ID, PAGE_BYTES, type, new ArrowCompressionInfo(compression, 3));
            var builder = MemoryLogRecordsArrowBuilder.builder(SCHEMA_ID, writer, output, appendOnly);
            for (JsonNode record : question.get("records")) {
                builder.append(change(record.get(0)), row(type, record.get(1)));
            }
            builder.setWriterState(WRITER_ID, SEQUENCE);
            String bytes = hex(builder.build());
            builder.close();
            return bytes;
        }
    }

    private static Object encodeRowLog(
            JsonNode question, RowType type, boolean appendOnly, UnmanagedPagedOutputView output) throws Exception {
        if (kvFormat(question) == KvFormat.INDEXED) {
            var builder = MemoryLogRecordsIndexedBuilder.builder(SCHEMA_ID, PAGE_BYTES, output, appendOnly);
            for (JsonNode record : question.get("records")) {
                builder.append(change(record.get(0)), (IndexedRow) encodeRow(question, type, record.get(1)));
            }
            builder.setWriterState(WRITER_ID, SEQUENCE);
            return hex(builder.build());
        }
        var builder = MemoryLogRecordsCompactedBuilder.builder(SCHEMA_ID, PAGE_BYTES, output, appendOnly);
        for (JsonNode record : question.get("records")) {
            builder.append(change(record.get(0)), (CompactedRow) encodeRow(question, type, record.get(1)));
        }
        builder.setWriterState(WRITER_ID, SEQUENCE);
        return hex(builder.build());
    }

    private static Object decodeLog(JsonNode question, Schema schema) throws Exception {
        RowType type = schema.getRowType();
        var getter = new OneSchema(schema);
        boolean projected = question.has("columns");
        if (projected) {
            var columns = new ArrayList<Integer>();
            question.get("columns").forEach(column -> columns.add(column.intValue()));
            type = type.project(columns.stream().mapToInt(Integer::intValue).toArray());
        }
        RowType rowType = type;
        var answer = new ArrayList<Object>();
        try (var context = switch (question.get("format").textValue()) {
            case "ARROW" -> LogRecordReadContext.createArrowReadContext(rowType, SCHEMA_ID, getter, projected);
            case "INDEXED" -> LogRecordReadContext.createIndexedReadContext(rowType, SCHEMA_ID, getter);
            default -> LogRecordReadContext.createCompactedRowReadContext(rowType, SCHEMA_ID);
        }) {
            for (LogRecordBatch batch : MemoryLogRecords.pointToBytes(unhex(question.get("bytes"))).batches()) {
                if (!projected) {
                    batch.ensureValid();
                }
                try (var records = batch.records(context)) {
                    while (records.hasNext()) {
                        LogRecord record = records.next();
                        answer.add(List.of(
                                record.logOffset(),
                                (int) record.getChangeType().toByteValue(),
                                fields(rowType, record.getRow())));
                    }
                }
            }
        }
        return answer;
    }

    private static Object encodeKv(JsonNode question, RowType type) throws Exception {
        var output = new UnmanagedPagedOutputView(PAGE_BYTES);
        var builder = KvRecordBatchBuilder.builder(SCHEMA_ID, PAGE_BYTES, output, kvFormat(question));
        for (JsonNode record : question.get("records")) {
            JsonNode values = record.get(1);
            builder.append(unhex(record.get(0)), values.isNull() ? null : encodeRow(question, type, values));
        }
        builder.setWriterState(WRITER_ID, SEQUENCE);
        return hex(builder.build());
    }

    private static Object decodeKv(JsonNode question, Schema schema) {
        var batch = DefaultKvRecordBatch.pointToBytes(unhex(question.get("bytes")));
        batch.ensureValid();
        var context = KvRecordReadContext.createReadContext(kvFormat(question), new OneSchema(schema));
        var answer = new ArrayList<Object>();
        for (KvRecord record : batch.records(context)) {
            var key = new byte[record.getKey().remaining()];
            record.getKey().get(key);
            var pair = new ArrayList<Object>();
            pair.add(HexFormat.of().formatHex(key));
            pair.add(record.getRow() == null ? null : fields(schema.getRowType(), record.getRow()));
            answer.add(pair);
        }
        return answer;
    }

    private Object keys(JsonNode question) throws Exception {
        var table = TableDescriptor.fromJsonBytes(json.writeValueAsBytes(question.get("table")));
        RowType type = table.getSchema().getRowType();
        var config = new TableConfig(Configuration.fromMap(table.getProperties()));
        var lake = config.getDataLakeFormat().orElse(null);
        var keys = new ArrayList<>(table.getSchema().getPrimaryKeyColumnNames());
        keys.removeAll(table.getPartitionKeys());
        var bucketKeys = table.getBucketKeys();
        var row = row(type, question.get("row"));
        byte[] bucketKey = KeyEncoder.ofBucketKeyEncoder(type, bucketKeys, lake).encodeKey(row);
        byte[] primaryKey = KeyEncoder.ofPrimaryKeyEncoder(type, keys, config, table.isDefaultBucketKey()).encodeKey(row);
        int count = table.getTableDistribution().orElseThrow().getBucketCount().orElseThrow();
        return List.of(
                HexFormat.of().formatHex(bucketKey),
                HexFormat.of().formatHex(primaryKey),
                BucketingFunction.of(lake).bucketing(bucketKey, count));
    }

    private static ChangeType change(JsonNode node) {
        return ChangeType.fromByteValue((byte) node.intValue());
    }

    private static GenericRow row(RowType type, JsonNode values) {
        var row = new GenericRow(type.getFieldCount());
        for (int i = 0; i < type.getFieldCount(); i++) {
            row.setField(i, value(type.getTypeAt(i), values.get(i)));
        }
        return row;
    }

    private static Object value(DataType type, JsonNode node) {
        if (node.isNull()) {
            return null;
        }
        return switch (type.getTypeRoot()) {
            case BOOLEAN -> node.booleanValue();
            case TINYINT -> (byte) node.intValue();
            case SMALLINT -> (short) node.intValue();
            case INTEGER, DATE, TIME_WITHOUT_TIME_ZONE -> node.intValue();
            case BIGINT -> node.longValue();
            case FLOAT -> Float.intBitsToFloat(node.intValue());
            case DOUBLE -> Double.longBitsToDouble(node.longValue());
            case CHAR, STRING -> BinaryString.fromString(node.textValue());
            case BINARY, BYTES -> unhex(node);
            case DECIMAL -> {
                var decimal = (DecimalType) type;
                var number = new BigDecimal(new BigInteger(node.textValue()), decimal.getScale());
                yield Decimal.fromBigDecimal(number, decimal.getPrecision(), decimal.getScale());
            }
            case TIMESTAMP_WITHOUT_TIME_ZONE -> {
                String[] parts = node.textValue().split(":");
                yield TimestampNtz.fromMillis(Long.parseLong(parts[0]), Integer.parseInt(parts[1]));
            }
            case TIMESTAMP_WITH_LOCAL_TIME_ZONE -> {
                String[] parts = node.textValue().split(":");
                yield TimestampLtz.fromEpochMillis(Long.parseLong(parts[0]), Integer.parseInt(parts[1]));
            }
            case ARRAY -> {
                var elements = new Object[node.size()];
                for (int i = 0; i < elements.length; i++) {
                    elements[i] = value(((ArrayType) type).getElementType(), node.get(i));
                }
                yield new GenericArray(elements);
            }
            case MAP -> {
                var map = new LinkedHashMap<Object, Object>();
                for (JsonNode entry : node) {
                    map.put(
                            value(((MapType) type).getKeyType(), entry.get(0)),
                            value(((MapType) type).getValueType(), entry.get(1)));
                }
                yield new GenericMap(map);
            }
            case ROW -> row((RowType) type, node);
            default -> throw new IllegalArgumentException(type.toString());
        };
    }

    private static List<Object> fields(RowType type, InternalRow row) {
        var values = new ArrayList<Object>();
        for (int i = 0; i < type.getFieldCount(); i++) {
            DataType field = type.getTypeAt(i);
            values.add(back(field, InternalRow.createFieldGetter(field, i).getFieldOrNull(row)));
        }
        return values;
    }

    private static List<Object> elements(DataType type, InternalArray array) {
        var values = new ArrayList<Object>();
        var getter = InternalArray.createElementGetter(type);
        for (int i = 0; i < array.size(); i++) {
            values.add(back(type, getter.getElementOrNull(array, i)));
        }
        return values;
    }

    private static Object back(DataType type, Object value) {
        if (value == null) {
            return null;
        }
        return switch (type.getTypeRoot()) {
            case FLOAT -> Float.floatToRawIntBits((float) value);
            case DOUBLE -> Double.doubleToRawLongBits((double) value);
            case CHAR, STRING -> value.toString();
            case BINARY, BYTES -> HexFormat.of().formatHex((byte[]) value);
            case DECIMAL -> ((Decimal) value).toBigDecimal().unscaledValue().toString();
            case TIMESTAMP_WITHOUT_TIME_ZONE ->
                    ((TimestampNtz) value).getMillisecond() + ":" + ((TimestampNtz) value).getNanoOfMillisecond();
            case TIMESTAMP_WITH_LOCAL_TIME_ZONE ->
                    ((TimestampLtz) value).getEpochMillisecond() + ":" + ((TimestampLtz) value).getNanoOfMillisecond();
            case ARRAY -> elements(((ArrayType) type).getElementType(), (InternalArray) value);
            case MAP -> {
                var keys = elements(((MapType) type).getKeyType(), ((InternalMap) value).keyArray());
                var values = elements(((MapType) type).getValueType(), ((InternalMap) value).valueArray());
                var pairs = new ArrayList<Object>();
                for (int i = 0; i < keys.size(); i++) {
                    var pair = new ArrayList<Object>();
                    pair.add(keys.get(i));
                    pair.add(values.get(i));
                    pairs.add(pair);
                }
                yield pairs;
            }
            case ROW -> fields((RowType) type, (InternalRow) value);
            default -> value;
        };
    }

    private static String hex(BinaryRow row) {
        var bytes = new byte[row.getSizeInBytes()];
        row.copyTo(bytes, 0);
        return HexFormat.of().formatHex(bytes);
    }

    private static String hex(BytesView view) {
        var buffer = view.getByteBuf();
        var bytes = new byte[buffer.readableBytes()];
        buffer.readBytes(bytes);
        return HexFormat.of().formatHex(bytes);
    }

    private static byte[] unhex(JsonNode node) {
        return HexFormat.of().parseHex(node.textValue());
    }

    /** The one schema that all batches are of. */
    private record OneSchema(Schema schema) implements SchemaGetter {
        @Override
        public Schema getSchema(int id) {
            return schema;
        }

        @Override
        public CompletableFuture<SchemaInfo> getSchemaInfoAsync(int id) {
            return CompletableFuture.completedFuture(new SchemaInfo(schema, id));
        }

        @Override
        public SchemaInfo getLatestSchemaInfo() {
            return new SchemaInfo(schema, SCHEMA_ID);
        }

        @Override
        public void release() {
            // Nothing is held.
        }
    }
}
