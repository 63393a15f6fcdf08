package org.pegel.peer;

import static org.apache.fluss.row.BinaryString.fromString;
import static org.apache.fluss.types.DataTypes.BIGINT;
import static org.apache.fluss.types.DataTypes.DOUBLE;
import static org.apache.fluss.types.DataTypes.FLOAT;
import static org.apache.fluss.types.DataTypes.INT;
import static org.apache.fluss.types.DataTypes.STRING;
import static org.apache.fluss.types.DataTypes.TIMESTAMP;
import static org.apache.fluss.types.DataTypes.TIMESTAMP_LTZ;

import java.time.Instant;
import java.util.List;
import java.util.Random;

import org.apache.fluss.metadata.LogFormat;
import org.apache.fluss.metadata.Schema;
import org.apache.fluss.metadata.TableDescriptor;
import org.apache.fluss.metadata.TablePath;
import org.apache.fluss.row.GenericRow;
import org.apache.fluss.row.TimestampLtz;
import org.apache.fluss.row.TimestampNtz;

/** Database {@code telemetry}: machines that report, in each of the three log formats. */
final class TelemetryTables {
    static final String DATABASE = "telemetry";

    private static final int DEVICES = 200;

    private TelemetryTables() {}

    static List<SampleTable> all() {
        return List.of(
                readings("sensor_readings", LogFormat.ARROW, "Readings in columns (Arrow), 3 buckets", 3, 3000, 30),
                readings("sensor_readings_compacted", LogFormat.COMPACTED, "The same in compacted rows", 2, 800, 4),
                readings("sensor_readings_indexed", LogFormat.INDEXED, "The same in indexed rows", 2, 800, 4),
                deviceState(),
                heartbeats());
    }

    private static SampleTable readings(
            String name, LogFormat format, String comment, int buckets, int initialRows, int rowsPerSecond) {
        var schema = Schema.newBuilder()
                .column("device", STRING().copy(false))
                .column("sequence", BIGINT())
                .column("temperature_c", DOUBLE())
                .column("humidity_percent", FLOAT())
                .column("battery_mv", INT())
                .column("measured_at", TIMESTAMP_LTZ(9))
                .build();
        var descriptor = TableDescriptor.builder()
                .schema(schema)
                .comment(comment)
                .distributedBy(buckets, "device")
                .logFormat(format)
                .property("table.log.ttl", "2 d")
                .build();
        return table(name, descriptor, initialRows, rowsPerSecond, (n, random) -> GenericRow.of(
                device(random),
                n,
                random.nextInt(200) == 0 ? null : 18 + 6 * Math.sin(n / 500.0) + random.nextGaussian(),
                (float) (40 + 5 * random.nextGaussian()),
                3300 - random.nextInt(600),
                TimestampLtz.fromInstant(Instant.now())));
    }

    private static SampleTable deviceState() {
        var schema = Schema.newBuilder()
                .column("device", STRING().copy(false))
                .column("firmware", STRING())
                .column("state", STRING())
                .column("last_seen_at", TIMESTAMP(3)).withComment("local time of the device")
                .primaryKey("device")
                .build();
        var descriptor = TableDescriptor.builder()
                .schema(schema)
                .comment("What each device last said of itself")
                .distributedBy(3, "device")
                .property("table.changelog.image", "FULL")
                .build();
        return table("device_state", descriptor, 2 * DEVICES, 8, (n, random) -> GenericRow.of(
                device(random),
                fromString("2." + random.nextInt(4) + "." + random.nextInt(10)),
                fromString(List.of("ok", "ok", "ok", "degraded", "updating").get(random.nextInt(5))),
                TimestampNtz.now()));
    }

    private static SampleTable heartbeats() {
        var schema = Schema.newBuilder()
                .column("gateway", STRING())
                .column("uptime_s", BIGINT())
                .build();
        var descriptor = TableDescriptor.builder()
                .schema(schema)
                .comment("No bucket key: rows go to buckets in turn. The name has both signs that names may have.")
                .distributedBy(1)
                .build();
        return table("edge-gateway_heart-beats", descriptor, 300, 2, (n, random) -> GenericRow.of(
                fromString("gateway-" + random.nextInt(8)), n));
    }

    private static org.apache.fluss.row.BinaryString device(Random random) {
        return fromString(String.format("dev-%04d", random.nextInt(DEVICES)));
    }

    private static SampleTable table(
            String name, TableDescriptor descriptor, int initialRows, int rowsPerSecond, SampleTable.Rows rows) {
        return new SampleTable(TablePath.of(DATABASE, name), descriptor, List.of(), initialRows, rowsPerSecond, rows);
    }
}
