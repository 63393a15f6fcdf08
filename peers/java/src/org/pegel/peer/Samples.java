package org.pegel.peer;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

import org.apache.fluss.client.Connection;
import org.apache.fluss.client.admin.Admin;
import org.apache.fluss.client.table.Table;
import org.apache.fluss.client.table.writer.AppendWriter;
import org.apache.fluss.client.table.writer.UpsertWriter;
import org.apache.fluss.metadata.DatabaseDescriptor;
import org.apache.fluss.metadata.PartitionSpec;
import org.apache.fluss.row.GenericRow;
import org.apache.fluss.security.acl.AccessControlEntry;
import org.apache.fluss.security.acl.AclBinding;
import org.apache.fluss.security.acl.FlussPrincipal;
import org.apache.fluss.security.acl.OperationType;
import org.apache.fluss.security.acl.PermissionType;
import org.apache.fluss.security.acl.Resource;

/**
 * Makes the sample databases, fills them, prints {@code ready}, and with {@code --steady} goes on writing a few rows a
 * second. It ends when its standard input does. With {@code --grants} users get rights by ACLs.
 *
 * <p>What is there already is left as it is, so a second run only adds rows.
 */
public final class Samples {
    /** One writing turn of the steady workload. */
    private static final long TURN_MS = 100;

    /** Beyond this many unanswered rows the steady workload waits, so that a dead server cannot fill the memory. */
    private static final long MOST_UNANSWERED = 5_000;

    private final List<Target> targets = new ArrayList<>();
    private final AtomicLong unanswered = new AtomicLong();
    private final AtomicBoolean failing = new AtomicBoolean();
    private final Random random = new Random();

    private Samples() {}

    /** A sample table that is open for writing. */
    private static final class Target {
        final SampleTable sample;
        final AppendWriter appender;
        final UpsertWriter upserter;
        long made;
        double owed;

        Target(SampleTable sample, Table table) {
            this.sample = sample;
            this.appender = sample.hasPrimaryKey() ? null : table.newAppend().createWriter();
            this.upserter = sample.hasPrimaryKey() ? table.newUpsert().createWriter() : null;
        }

        CompletableFuture<?> write(Random random) {
            GenericRow row = sample.rows().make(made++, random);
            return upserter == null ? appender.append(row) : upserter.upsert(row);
        }

        void flush() {
            if (upserter == null) {
                appender.flush();
            } else {
                upserter.flush();
            }
        }
    }

    public static void main(String[] arguments) throws Exception {
        var login = new Login(arguments, "steady", "grants");
        var samples = new Samples();
        endWithInput();
        Connection connection = login.connect();
        samples.create(connection.getAdmin());
        if (login.has("grants")) {
            grant(connection.getAdmin());
        }
        samples.fill(connection);
        System.out.println("ready");
        System.out.flush();
        if (login.has("steady")) {
            samples.goOn();
        }
        // Closing the connection in order would wait out seconds of silence, and every row is acknowledged.
        Runtime.getRuntime().halt(0);
    }

    private static List<SampleTable> all() {
        var all = new ArrayList<SampleTable>();
        all.addAll(ShopTables.all());
        all.addAll(TelemetryTables.all());
        all.addAll(TypesTables.all());
        return all;
    }

    private void create(Admin admin) {
        var databases = Map.of(
                ShopTables.DATABASE, "Customers, orders and stock of a shop",
                TelemetryTables.DATABASE, "Readings and states of devices",
                TypesTables.DATABASE, "Every data type and the limits of names");
        var made = new ArrayList<CompletableFuture<?>>();
        databases.forEach((name, comment) -> made.add(admin.createDatabase(
                name,
                DatabaseDescriptor.builder().comment(comment).customProperty("made-by", "pegel demo").build(),
                true)));
        finish(made);
        for (SampleTable sample : all()) {
            made.add(admin.createTable(sample.path(), sample.descriptor(), true));
        }
        finish(made);
        for (SampleTable sample : all()) {
            for (Map<String, String> partition : sample.partitions()) {
                made.add(admin.createPartition(sample.path(), new PartitionSpec(partition), true));
            }
        }
        finish(made);
    }

    /** Lets user {@code writer} read and write two databases, and user {@code reader} read one. */
    private static void grant(Admin admin) {
        var bindings = List.of(
                allow("writer", ShopTables.DATABASE, OperationType.READ),
                allow("writer", ShopTables.DATABASE, OperationType.WRITE),
                allow("writer", TelemetryTables.DATABASE, OperationType.READ),
                allow("writer", TelemetryTables.DATABASE, OperationType.WRITE),
                allow("reader", ShopTables.DATABASE, OperationType.READ));
        admin.createAcls(bindings).all().join();
    }

    private static AclBinding allow(String user, String database, OperationType operation) {
        return new AclBinding(
                Resource.database(database),
                new AccessControlEntry(
                        new FlussPrincipal(user, "User"),
                        AccessControlEntry.WILD_CARD_HOST,
                        operation,
                        PermissionType.ALLOW));
    }

    private static void finish(List<CompletableFuture<?>> started) {
        CompletableFuture.allOf(started.toArray(new CompletableFuture<?>[0])).join();
        started.clear();
    }

    private void fill(Connection connection) {
        var written = new ArrayList<CompletableFuture<?>>();
        for (SampleTable sample : all()) {
            var target = new Target(sample, connection.getTable(sample.path()));
            targets.add(target);
            for (int i = 0; i < sample.initialRows(); i++) {
                written.add(target.write(random));
            }
        }
        // Flushing one writer flushes those of the whole connection.
        targets.get(0).flush();
        finish(written);
    }

    /** Ends the program when its parent does; the pipe to it closes then. */
    private static void endWithInput() {
        var watcher = new Thread(() -> {
            try {
                while (System.in.read() >= 0) {
                    // Nothing is ever sent; only the end matters.
                }
            } catch (IOException broken) {
                // A broken pipe is an end too.
            }
            Runtime.getRuntime().halt(1);
        });
        watcher.setDaemon(true);
        watcher.start();
    }

    private void goOn() throws InterruptedException {
        while (true) {
            for (Target target : targets) {
                // Shares below one row a turn add up until a row is due.
                target.owed += target.sample.rowsPerSecond() * TURN_MS / 1000.0;
                while (target.owed >= 1) {
                    target.owed -= 1;
                    if (unanswered.get() < MOST_UNANSWERED) {
                        unanswered.incrementAndGet();
                        target.write(random).whenComplete((result, error) -> note(error));
                    }
                }
            }
            Thread.sleep(TURN_MS);
        }
    }

    private void note(Throwable error) {
        unanswered.decrementAndGet();
        // Only the change is worth a line; the cluster may be down for long.
        if (error != null && failing.compareAndSet(false, true)) {
            System.out.println("writes fail: " + error);
        } else if (error == null && failing.compareAndSet(true, false)) {
            System.out.println("writes succeed again");
        }
    }
}
