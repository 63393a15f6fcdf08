package org.pegel.peer;

import static org.apache.fluss.row.BinaryString.fromString;
import static org.apache.fluss.types.DataTypes.BIGINT;
import static org.apache.fluss.types.DataTypes.BOOLEAN;
import static org.apache.fluss.types.DataTypes.CHAR;
import static org.apache.fluss.types.DataTypes.DATE;
import static org.apache.fluss.types.DataTypes.DECIMAL;
import static org.apache.fluss.types.DataTypes.INT;
import static org.apache.fluss.types.DataTypes.STRING;
import static org.apache.fluss.types.DataTypes.TIMESTAMP_LTZ;

import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;

import org.apache.fluss.metadata.AggFunctions;
import org.apache.fluss.metadata.Schema;
import org.apache.fluss.metadata.TableDescriptor;
import org.apache.fluss.metadata.TablePath;
import org.apache.fluss.row.Decimal;
import org.apache.fluss.row.GenericRow;
import org.apache.fluss.row.TimestampLtz;

/** Database {@code shop}: customers, orders and what is counted from them, in each kind of table and merge engine. */
final class ShopTables {
    static final String DATABASE = "shop";

    private static final int CUSTOMERS = 1500;
    private static final int PRODUCTS = 240;
    private static final List<String> COUNTRIES = List.of("de", "fr", "us");
    private static final List<String> REGIONS = List.of("emea", "apac", "amer");
    private static final List<String> STATUSES = List.of("CREATED", "PAID", "PACKED", "SHIPPED", "DELIVERED", "RETURNED");
    private static final List<String> GIVEN = List.of("Ada", "Émile", "Grace", "Jörg", "Katarína", "Linus", "Mei", "Noor", "Søren", "Zoë");
    private static final List<String> FAMILY = List.of("Álvarez", "Becker", "Chen", "Dubois", "Eriksson", "Haddad", "Novák", "O'Neill", "Sato", "Wright");
    private static final List<String> GOODS = List.of("Desk lamp", "Kettle", "Notebook A5", "Rain jacket", "Running shoe", "Tea, 100 g", "Travel mug", "Wool scarf");
    private static final DateTimeFormatter DAY = DateTimeFormatter.ofPattern("yyyyMMdd");

    private ShopTables() {}

    static List<SampleTable> all() {
        return List.of(
                customers(), products(), orders(), orderStatus(), inventory(), firstPurchases(),
                salesByProduct(), dailySales(), clicks(), pageViews());
    }

    private static SampleTable customers() {
        var schema = Schema.newBuilder()
                .column("customer_id", BIGINT().copy(false)).withComment("given once, never reused")
                .column("name", STRING()).withComment("as the customer writes it")
                .column("email", STRING())
                .column("country", CHAR(2)).withComment("ISO 3166-1 alpha-2, lower case")
                .column("loyalty_points", INT())
                .column("credit_limit", DECIMAL(10, 2))
                .column("newsletter", BOOLEAN())
                .column("born_on", DATE())
                .column("registered_at", TIMESTAMP_LTZ(3))
                .primaryKey("customer_id")
                .build();
        var descriptor = TableDescriptor.builder()
                .schema(schema)
                .comment("Everyone who has an account")
                .distributedBy(3, "customer_id")
                .customProperty("owner", "crm")
                .customProperty("contains-personal-data", "true")
                .build();
        return table("customers", descriptor, List.of(), CUSTOMERS, 8, (n, random) -> {
            long id = n % CUSTOMERS;
            String given = pick(GIVEN, random);
            String family = pick(FAMILY, random);
            return GenericRow.of(
                    1000 + id,
                    fromString(given + " " + family),
                    random.nextInt(20) == 0 ? null : fromString("customer-" + (1000 + id) + "@example.test"),
                    fromString(pick(COUNTRIES, random)),
                    random.nextInt(10_000),
                    Decimal.fromUnscaledLong(random.nextInt(500_000), 10, 2),
                    random.nextBoolean(),
                    random.nextInt(4) == 0 ? null : 3650 + random.nextInt(14_000),
                    ago(random, 86_400 * 700));
        });
    }

    private static SampleTable products() {
        var schema = Schema.newBuilder()
                .column("sku", STRING().copy(false))
                .column("title", STRING().copy(false))
                .column("price", DECIMAL(12, 2).copy(false))
                .column("active", BOOLEAN())
                .primaryKey("sku")
                .build();
        var descriptor = TableDescriptor.builder()
                .schema(schema)
                .comment("The catalogue")
                .distributedBy(1, "sku")
                .property("table.kv.format", "INDEXED")
                .build();
        return table("products", descriptor, List.of(), PRODUCTS, 0, (n, random) -> GenericRow.of(
                sku(n),
                fromString(GOODS.get((int) (n % GOODS.size())) + " no. " + n),
                Decimal.fromUnscaledLong(199 + random.nextInt(20_000), 12, 2),
                random.nextInt(12) != 0));
    }

    private static SampleTable orders() {
        var schema = Schema.newBuilder()
                .column("order_id", BIGINT().copy(false))
                .column("customer_id", BIGINT().copy(false))
                .column("sku", STRING())
                .column("quantity", INT())
                .column("amount", DECIMAL(12, 2)).withComment("EUR, tax included")
                .column("status", STRING())
                .column("note", STRING()).withComment("free text of the customer")
                .column("ordered_at", TIMESTAMP_LTZ(6))
                .build();
        var descriptor = TableDescriptor.builder()
                .schema(schema)
                .comment("Every order as it came in; nothing is ever changed here")
                .distributedBy(3, "order_id")
                .property("table.log.ttl", "7 d")
                .property("table.log.arrow.compression.type", "ZSTD")
                .customProperty("owner", "orders")
                .build();
        return table("orders", descriptor, List.of(), 4000, 40, (n, random) -> GenericRow.of(
                500_000 + n,
                1000L + random.nextInt(CUSTOMERS),
                sku(random.nextInt(PRODUCTS)),
                1 + random.nextInt(5),
                Decimal.fromUnscaledLong(499 + random.nextInt(50_000), 12, 2),
                fromString("CREATED"),
                random.nextInt(9) == 0 ? fromString("please ring twice, \"" + pick(FAMILY, random) + "\"") : null,
                TimestampLtz.fromInstant(Instant.now())));
    }

    private static SampleTable orderStatus() {
        var schema = Schema.newBuilder()
                .column("order_id", BIGINT().copy(false))
                .column("version", BIGINT().copy(false)).withComment("the higher one wins")
                .column("status", STRING())
                .column("changed_at", TIMESTAMP_LTZ(3))
                .primaryKey("order_id")
                .build();
        var descriptor = TableDescriptor.builder()
                .schema(schema)
                .comment("The latest state of each order; late messages lose")
                .distributedBy(3, "order_id")
                .property("table.merge-engine", "versioned")
                .property("table.merge-engine.versioned.ver-column", "version")
                .build();
        return table("order_status", descriptor, List.of(), 2000, 10, (n, random) -> GenericRow.of(
                500_000L + random.nextInt(4000),
                n,
                fromString(pick(STATUSES, random)),
                TimestampLtz.fromInstant(Instant.now())));
    }

    private static SampleTable inventory() {
        var schema = Schema.newBuilder()
                .column("warehouse", STRING().copy(false))
                .column("sku", STRING().copy(false))
                .column("in_stock", INT())
                .column("reserved", INT())
                .primaryKey("warehouse", "sku")
                .build();
        // The bucket key is a prefix of the primary key, so a warehouse can be looked up as a whole.
        var descriptor = TableDescriptor.builder()
                .schema(schema)
                .comment("Stock per warehouse; prefix lookup by warehouse")
                .distributedBy(2, "warehouse")
                .build();
        return table("inventory", descriptor, List.of(), 600, 4, (n, random) -> GenericRow.of(
                fromString("wh-" + (n % 5)),
                sku((n / 5) % PRODUCTS),
                random.nextInt(400),
                random.nextInt(20)));
    }

    private static SampleTable firstPurchases() {
        var schema = Schema.newBuilder()
                .column("customer_id", BIGINT().copy(false))
                .column("order_id", BIGINT())
                .column("at", TIMESTAMP_LTZ(3))
                .primaryKey("customer_id")
                .build();
        var descriptor = TableDescriptor.builder()
                .schema(schema)
                .comment("The first order of each customer; later ones are dropped")
                .distributedBy(1, "customer_id")
                .property("table.merge-engine", "first_row")
                .build();
        return table("first_purchases", descriptor, List.of(), 1000, 2, (n, random) -> GenericRow.of(
                1000L + random.nextInt(CUSTOMERS), 500_000 + n, TimestampLtz.fromInstant(Instant.now())));
    }

    private static SampleTable salesByProduct() {
        var schema = Schema.newBuilder()
                .column("sku", STRING().copy(false))
                .column("sold", BIGINT(), AggFunctions.SUM())
                .column("highest_price", DECIMAL(12, 2), AggFunctions.MAX())
                .column("last_sold_at", TIMESTAMP_LTZ(3), AggFunctions.LAST_VALUE())
                .primaryKey("sku")
                .build();
        var descriptor = TableDescriptor.builder()
                .schema(schema)
                .comment("Counted by the server's aggregation engine")
                .distributedBy(1, "sku")
                .property("table.merge-engine", "aggregation")
                .build();
        return table("sales_by_product", descriptor, List.of(), 500, 2, (n, random) -> GenericRow.of(
                sku(random.nextInt(PRODUCTS)),
                1L + random.nextInt(5),
                Decimal.fromUnscaledLong(199 + random.nextInt(20_000), 12, 2),
                TimestampLtz.fromInstant(Instant.now())));
    }

    private static SampleTable dailySales() {
        var schema = Schema.newBuilder()
                .column("day", STRING().copy(false)).withComment("yyyyMMdd, UTC")
                .column("region", STRING().copy(false))
                .column("sku", STRING().copy(false))
                .column("units", INT())
                .column("revenue", DECIMAL(18, 2))
                .primaryKey("day", "region", "sku")
                .build();
        var descriptor = TableDescriptor.builder()
                .schema(schema)
                .comment("Closed days, one partition per day and region")
                .partitionedBy("day", "region")
                .distributedBy(1, "sku")
                .build();
        var days = List.of(day(2), day(1));
        var partitions = new ArrayList<Map<String, String>>();
        for (String day : days) {
            for (String region : REGIONS) {
                partitions.add(Map.of("day", day, "region", region));
            }
        }
        return table("daily_sales", descriptor, partitions, 600, 0, (n, random) -> GenericRow.of(
                fromString(days.get((int) (n % days.size()))),
                fromString(REGIONS.get((int) (n / 2 % REGIONS.size()))),
                sku(n / 6 % PRODUCTS),
                random.nextInt(90),
                Decimal.fromUnscaledLong(random.nextInt(9_000_000), 18, 2)));
    }

    private static SampleTable clicks() {
        var schema = Schema.newBuilder()
                .column("country", STRING().copy(false))
                .column("session", STRING())
                .column("target", STRING())
                .column("clicked_at", TIMESTAMP_LTZ(3))
                .build();
        var descriptor = TableDescriptor.builder()
                .schema(schema)
                .comment("Clicks, one partition per country")
                .partitionedBy("country")
                .distributedBy(2)
                .property("table.log.arrow.compression.type", "LZ4_FRAME")
                .build();
        var partitions = COUNTRIES.stream().map(country -> Map.of("country", country)).toList();
        return table("clicks_by_country", descriptor, partitions, 1500, 10, (n, random) -> GenericRow.of(
                fromString(pick(COUNTRIES, random)),
                fromString("s-" + random.nextInt(300)),
                fromString("/product/" + sku(random.nextInt(PRODUCTS))),
                TimestampLtz.fromInstant(Instant.now())));
    }

    private static SampleTable pageViews() {
        var schema = Schema.newBuilder()
                .column("day", STRING().copy(false)).withComment("yyyyMMdd, UTC")
                .column("path", STRING())
                .column("took_ms", INT())
                .column("viewed_at", TIMESTAMP_LTZ(3))
                .build();
        var descriptor = TableDescriptor.builder()
                .schema(schema)
                .comment("Page views; the server makes and drops a partition per day")
                .partitionedBy("day")
                .distributedBy(2)
                .property("table.auto-partition.enabled", "true")
                .property("table.auto-partition.time-unit", "DAY")
                .property("table.auto-partition.time-zone", "UTC")
                .property("table.auto-partition.num-precreate", "2")
                .property("table.auto-partition.num-retention", "3")
                .build();
        return table("page_views", descriptor, List.of(), 1000, 10, (n, random) -> GenericRow.of(
                fromString(day(0)),
                fromString("/" + pick(List.of("", "cart", "search", "checkout", "about"), random)),
                3 + random.nextInt(400),
                TimestampLtz.fromInstant(Instant.now())));
    }

    private static SampleTable table(
            String name,
            TableDescriptor descriptor,
            List<Map<String, String>> partitions,
            int initialRows,
            int rowsPerSecond,
            SampleTable.Rows rows) {
        return new SampleTable(TablePath.of(DATABASE, name), descriptor, partitions, initialRows, rowsPerSecond, rows);
    }

    private static org.apache.fluss.row.BinaryString sku(long n) {
        return fromString(String.format("SKU-%05d", n));
    }

    private static String day(int daysAgo) {
        return LocalDate.now(ZoneOffset.UTC).minusDays(daysAgo).format(DAY);
    }

    private static TimestampLtz ago(Random random, int seconds) {
        return TimestampLtz.fromEpochMillis(System.currentTimeMillis() - 1000L * random.nextInt(seconds));
    }

    private static String pick(List<String> words, Random random) {
        return words.get(random.nextInt(words.size()));
    }
}
