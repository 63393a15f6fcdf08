package org.pegel.peer;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;

import org.apache.fluss.client.Connection;
import org.apache.fluss.client.ConnectionFactory;
import org.apache.fluss.config.Configuration;

/**
 * The command line shared by all programs: where the cluster is and as whom to come.
 *
 * <p>{@code --bootstrap host:port,...} is needed. With {@code --user} goes {@code --password-file}: a password on the
 * command line could be read by every user of the machine. Further options are {@code --name value} or, for those
 * listed by the program, {@code --name} alone.
 */
final class Login {
    private final Map<String, String> options = new HashMap<>();

    /** Reads the command line; {@code switches} are the options without a value. */
    Login(String[] arguments, String... switches) {
        var known = Set.of(switches);
        for (int i = 0; i < arguments.length; i++) {
            if (!arguments[i].startsWith("--")) {
                throw new IllegalArgumentException("not an option: " + arguments[i]);
            }
            String name = arguments[i].substring(2);
            if (known.contains(name)) {
                options.put(name, "");
            } else if (i + 1 < arguments.length) {
                options.put(name, arguments[++i]);
            } else {
                throw new IllegalArgumentException("option without a value: --" + name);
            }
        }
    }

    boolean has(String name) {
        return options.containsKey(name);
    }

    String get(String name, String otherwise) {
        return options.getOrDefault(name, otherwise);
    }

    /** Connects. */
    Connection connect() throws IOException {
        var configuration = new Configuration();
        String bootstrap = options.get("bootstrap");
        if (bootstrap == null) {
            throw new IllegalArgumentException("--bootstrap is needed");
        }
        configuration.setString("bootstrap.servers", bootstrap);
        configuration.setString("client.id", "pegel-peer-java");
        // The default asks for 64 MiB at once; these programs write little.
        configuration.setString("client.writer.buffer.memory-size", "16mb");
        configuration.setString("client.writer.batch-size", "256kb");
        if (has("user")) {
            configuration.setString("client.security.protocol", "SASL");
            configuration.setString("client.security.sasl.mechanism", "PLAIN");
            configuration.setString("client.security.sasl.username", options.get("user"));
            String file = options.get("password-file");
            if (file == null) {
                throw new IllegalArgumentException("--user needs --password-file");
            }
            configuration.setString("client.security.sasl.password", Files.readString(Path.of(file)).strip());
        }
        return ConnectionFactory.createConnection(configuration);
    }
}
