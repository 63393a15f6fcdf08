package org.pegel.peer;

import java.io.BufferedReader;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

import org.apache.fluss.client.admin.Admin;
import org.apache.fluss.client.admin.OffsetSpec;
import org.apache.fluss.metadata.PartitionInfo;
import org.apache.fluss.metadata.SchemaInfo;
import org.apache.fluss.metadata.TableInfo;
import org.apache.fluss.metadata.TablePath;
import org.apache.fluss.security.acl.AclBindingFilter;
import org.apache.fluss.shaded.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.apache.fluss.shaded.jackson2.com.fasterxml.jackson.databind.ObjectMapper;

/**
 * Answers questions about a cluster: a JSON object a line on standard input, a JSON object a line on standard output,
 * in order. The official client is the judge that other clients are compared with.
 *
 * <p>A question is {@code {"ask": <what>, ...}}, an answer {@code {"ok": <value>}} or
 * {@code {"error": {"type": <exception>, "message": <text>}}}. What can be asked:
 *
 * <ul>
 *   <li>{@code servers}, {@code databases}, {@code database_summaries}, {@code configs}, {@code acls}
 *   <li>{@code database} and {@code tables}, with {@code database}
 *   <li>{@code table}, {@code schema} (may have {@code schema_id}), {@code partitions}, {@code stats}, with
 *       {@code database} and {@code table}
 *   <li>{@code offsets}, with {@code database}, {@code table}, {@code at} ({@code "earliest"}, {@code "latest"} or
 *       milliseconds) and perhaps {@code partition}; without it a partitioned table answers for all partitions
 *   <li>{@code snapshots}, with {@code database}, {@code table} and perhaps {@code partition}
 * </ul>
 */
public final class Ask {
    private static final Duration ANSWER_WITHIN = Duration.ofSeconds(30);

    private final ObjectMapper json = new ObjectMapper();
    private final Admin admin;

    private Ask(Admin admin) {
        this.admin = admin;
    }

    public static void main(String[] arguments) throws Exception {
        var questions = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        var answers = new PrintStream(new FileOutputStream(FileDescriptor.out), true, StandardCharsets.UTF_8);
        var ask = new Ask(new Login(arguments).connect().getAdmin());
        String line;
        while ((line = questions.readLine()) != null) {
            if (!line.isBlank()) {
                answers.println(ask.json.writeValueAsString(ask.answer(line)));
            }
        }
        // Closing the connection in order would wait out seconds of silence, and nothing is unsent.
        Runtime.getRuntime().halt(0);
    }

    private Map<String, Object> answer(String line) {
        try {
            // A null value is an answer too, so Map.of will not do.
            var answer = new LinkedHashMap<String, Object>();
            answer.put("ok", about(json.readTree(line)));
            return answer;
        } catch (Exception failed) {
            Throwable cause = failed;
            while ((cause instanceof ExecutionException || cause instanceof CompletionException)
                    && cause.getCause() != null) {
                cause = cause.getCause();
            }
            var error = new LinkedHashMap<String, Object>();
            error.put("type", cause.getClass().getSimpleName());
            error.put("message", cause.getMessage());
            return Map.of("error", error);
        }
    }

    private Object about(JsonNode question) throws Exception {
        String what = text(question, "ask");
        return switch (what) {
            case "servers" -> servers();
            case "databases" -> get(admin.listDatabases());
            case "database_summaries" -> get(admin.listDatabaseSummaries()).stream().map(summary -> object(
                    "name", summary.getDatabaseName(),
                    "created_at_ms", summary.getCreatedTime(),
                    "table_count", summary.getTableCount())).toList();
            case "database" -> database(text(question, "database"));
            case "tables" -> get(admin.listTables(text(question, "database")));
            case "table" -> table(get(admin.getTableInfo(path(question))));
            case "schema" -> schema(question);
            case "partitions" -> get(admin.listPartitionInfos(path(question))).stream().map(this::partition).toList();
            case "stats" -> object("row_count", get(admin.getTableStats(path(question))).getRowCount());
            case "offsets" -> offsets(question);
            case "snapshots" -> snapshots(question);
            case "configs" -> get(admin.describeClusterConfigs()).stream().map(entry -> object(
                    "key", entry.key(), "value", entry.value(), "source", entry.source().name())).toList();
            case "acls" -> get(admin.listAcls(AclBindingFilter.ANY)).stream().map(binding -> object(
                    "resource_type", binding.getResource().getType().name(),
                    "resource_name", binding.getResource().getName(),
                    "principal_type", binding.getAccessControlEntry().getPrincipal().getType(),
                    "principal_name", binding.getAccessControlEntry().getPrincipal().getName(),
                    "host", binding.getAccessControlEntry().getHost(),
                    "operation", binding.getAccessControlEntry().getOperationType().name(),
                    "permission", binding.getAccessControlEntry().getPermissionType().name())).toList();
            default -> throw new IllegalArgumentException("unknown question: " + what);
        };
    }

    private Object servers() throws Exception {
        return get(admin.getServerNodes()).stream().map(node -> object(
                "id", node.id(),
                "uid", node.uid(),
                "host", node.host(),
                "port", node.port(),
                "type", node.serverType().name(),
                "rack", node.rack())).toList();
    }

    private Object database(String name) throws Exception {
        var info = get(admin.getDatabaseInfo(name));
        return object(
                "name", info.getDatabaseName(),
                "comment", info.getDatabaseDescriptor().getComment().orElse(null),
                "custom_properties", info.getDatabaseDescriptor().getCustomProperties(),
                "json", json.readTree(info.getDatabaseDescriptor().toJsonBytes()),
                "created_at_ms", info.getCreatedTime(),
                "modified_at_ms", info.getModifiedTime());
    }

    private Object table(TableInfo info) throws Exception {
        return object(
                "table_id", info.getTableId(),
                "schema_id", info.getSchemaId(),
                "schema", json.readTree(info.getSchema().toJsonBytes()),
                "row_type", info.getRowType().asSummaryString(),
                "primary_key", info.getPrimaryKeys(),
                "physical_primary_key", info.hasPrimaryKey() ? info.getPhysicalPrimaryKeys() : List.of(),
                "bucket_key", info.getBucketKeys(),
                "default_bucket_key", info.isDefaultBucketKey(),
                "partition_key", info.getPartitionKeys(),
                "auto_partitioned", info.isAutoPartitioned(),
                "bucket_count", info.getNumBuckets(),
                "properties", info.getProperties().toMap(),
                "custom_properties", info.getCustomProperties().toMap(),
                "comment", info.getComment().orElse(null),
                "json", json.readTree(info.toTableDescriptor().toJsonBytes()),
                "created_at_ms", info.getCreatedTime(),
                "modified_at_ms", info.getModifiedTime());
    }

    private Object schema(JsonNode question) throws Exception {
        SchemaInfo info = question.has("schema_id")
                ? get(admin.getTableSchema(path(question), question.get("schema_id").intValue()))
                : get(admin.getTableSchema(path(question)));
        return object("schema_id", info.getSchemaId(), "schema", json.readTree(info.getSchema().toJsonBytes()));
    }

    private Map<String, Object> partition(PartitionInfo info) {
        return object(
                "partition_id", info.getPartitionId(),
                "name", info.getPartitionName(),
                "qualified_name", info.getResolvedPartitionSpec().getPartitionQualifiedName(),
                "spec", info.getPartitionSpec().getSpecMap());
    }

    private Object offsets(JsonNode question) throws Exception {
        TablePath path = path(question);
        TableInfo info = get(admin.getTableInfo(path));
        var buckets = IntStream.range(0, info.getNumBuckets()).boxed().toList();
        JsonNode at = question.get("at");
        if (at == null) {
            throw new IllegalArgumentException("offsets needs at");
        }
        OffsetSpec spec = at.isNumber()
                ? new OffsetSpec.TimestampSpec(at.longValue())
                : "earliest".equals(at.textValue()) ? new OffsetSpec.EarliestSpec() : new OffsetSpec.LatestSpec();
        if (!info.isPartitioned()) {
            return get(admin.listOffsets(path, buckets, spec).all());
        }
        var names = new ArrayList<String>();
        if (question.has("partition")) {
            names.add(text(question, "partition"));
        } else {
            get(admin.listPartitionInfos(path)).forEach(partition -> names.add(partition.getPartitionName()));
        }
        var answer = new LinkedHashMap<String, Object>();
        for (String name : names) {
            answer.put(name, get(admin.listOffsets(path, name, buckets, spec).all()));
        }
        return answer;
    }

    private Object snapshots(JsonNode question) throws Exception {
        var snapshots = question.has("partition")
                ? get(admin.getLatestKvSnapshots(path(question), text(question, "partition")))
                : get(admin.getLatestKvSnapshots(path(question)));
        var answer = new LinkedHashMap<String, Object>();
        for (int bucket : snapshots.getBucketIds()) {
            var id = snapshots.getSnapshotId(bucket);
            var offset = snapshots.getLogOffset(bucket);
            answer.put(Integer.toString(bucket), object(
                    "snapshot_id", id.isPresent() ? id.getAsLong() : null,
                    "log_offset", offset.isPresent() ? offset.getAsLong() : null));
        }
        return answer;
    }

    private static TablePath path(JsonNode question) {
        return TablePath.of(text(question, "database"), text(question, "table"));
    }

    private static String text(JsonNode question, String field) {
        JsonNode value = question.get(field);
        if (value == null || !value.isTextual()) {
            throw new IllegalArgumentException("question without " + field);
        }
        return value.textValue();
    }

    private static <T> T get(CompletableFuture<T> future) throws Exception {
        return future.get(ANSWER_WITHIN.toMillis(), TimeUnit.MILLISECONDS);
    }

    private static Map<String, Object> object(Object... pairs) {
        var object = new LinkedHashMap<String, Object>();
        for (int i = 0; i < pairs.length; i += 2) {
            object.put((String) pairs[i], pairs[i + 1]);
        }
        return object;
    }
}
