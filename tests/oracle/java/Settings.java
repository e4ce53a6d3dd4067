// Lists the settings of the release on the class path. Argument: a folder, which is not used. A case is "broker" or
// "topic". An answer has them with tabs between them, each with NAME TYPE VALIDATOR; of a list also "no-list" if it
// may not be empty, and "no-entry" if none of its entries may. A case "class" is answered by Kafka's own classes that a
// setting may name, each with NAME CLASS.
// By reflection: classes, packages and visibility change from release to release.
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.common.config.ConfigException;

public class Settings {
    private static final String[] BROKER = {
        "kafka.server.KafkaConfig$", "org.apache.kafka.server.config.AbstractKafkaConfig"
    };
    private static final String[] TOPIC = {
        "kafka.log.LogConfig$", "org.apache.kafka.storage.internals.log.LogConfig"
    };

    private static final String COMMON = "org.apache.kafka.common.";
    private static final String GROUPS = "org.apache.kafka.coordinator.group.";
    private static final String REMOTE = "org.apache.kafka.server.log.remote.storage.";
    private static final String[][] INTERFACES = {
        {"alter.config.policy.class.name", "org.apache.kafka.server.policy.AlterConfigPolicy"},
        {"authorizer.class.name", "org.apache.kafka.server.authorizer.Authorizer", "kafka.security.auth.Authorizer"},
        {"callback.handler.class", COMMON + "security.auth.AuthenticateCallbackHandler"},
        {"client.quota.callback.class", "org.apache.kafka.server.quota.ClientQuotaCallback"},
        {"config.providers", COMMON + "config.provider.ConfigProvider"},
        {"create.topic.policy.class.name", "org.apache.kafka.server.policy.CreateTopicPolicy"},
        {"group.consumer.assignors", GROUPS + "api.assignor.PartitionAssignor", GROUPS + "assignor.PartitionAssignor"},
        {"group.share.assignors", GROUPS + "api.assignor.ShareGroupPartitionAssignor"},
        {"kafka.metrics.reporters", "kafka.metrics.KafkaMetricsReporter"},
        {"metric.reporters", COMMON + "metrics.MetricsReporter"},
        {"principal.builder.class", COMMON + "security.auth.KafkaPrincipalBuilder",
            COMMON + "security.auth.PrincipalBuilder"},
        {"remote.log.metadata.manager.class.name", REMOTE + "RemoteLogMetadataManager"},
        {"remote.log.storage.manager.class.name", REMOTE + "RemoteStorageManager"},
        {"replica.selector.class", COMMON + "replica.ReplicaSelector"},
        {"sasl.jaas.config", "javax.security.auth.spi.LoginModule"},
        {"sasl.login.class", COMMON + "security.auth.Login"},
        {"ssl.engine.factory.class", COMMON + "security.auth.SslEngineFactory"},
    };

    public static void main(String[] args) throws Exception {
        BufferedReader cases = new BufferedReader(new InputStreamReader(System.in));
        PrintStream answers = System.out;
        System.setOut(System.err);
        for (String line; (line = cases.readLine()) != null; ) {
            if (line.equals("class")) {
                answers.println(String.join("\t", classes()));
                continue;
            }
            StringBuilder answer = new StringBuilder();
            boolean ofBroker = line.equals("broker");
            ConfigDef settings = settings(ofBroker ? BROKER : TOPIC, ofBroker ? "num.io.threads" : "segment.bytes");
            for (Map.Entry<String, ConfigDef.ConfigKey> row : new TreeMap<>(settings.configKeys()).entrySet()) {
                ConfigDef.Validator validator = row.getValue().validator;
                String accepted = validator == null ? "" : validator.getClass().getSimpleName() + " " + validator;
                answer.append(answer.length() == 0 ? "" : "\t");
                answer.append(row.getKey()).append(" ").append(row.getValue().type).append(" ");
                answer.append(accepted.replaceAll("\\s+", " "));
                if (validator != null && row.getValue().type == ConfigDef.Type.LIST) {
                    answer.append(refuses(row.getKey(), validator, List.of()) ? " no-list" : "");
                    answer.append(refuses(row.getKey(), validator, List.of("")) ? " no-entry" : "");
                }
            }
            answers.println(answer);
        }
        answers.flush();
    }

    private static TreeSet<String> classes() throws Exception {
        TreeSet<String> found = new TreeSet<>();
        for (String path : System.getProperty("java.class.path").split(":")) {
            if (!path.contains("/org/apache/kafka/")) {
                continue;
            }
            try (JarFile jar = new JarFile(path)) {
                for (JarEntry entry : Collections.list(jar.entries())) {
                    String name = entry.getName().replace('/', '.');
                    if (name.endsWith(".class") && !name.startsWith("META-INF")) {
                        add(found, name.substring(0, name.length() - ".class".length()));
                    }
                }
            }
        }
        return found;
    }

    private static void add(TreeSet<String> found, String name) {
        try {
            Class<?> type = Class.forName(name, false, Settings.class.getClassLoader());
            for (String[] row : INTERFACES) {
                for (int at = 1; at < row.length; at++) {
                    if (is(type, row[at]) && isMade(type)) {
                        found.add(row[0] + " " + name + " ");
                    }
                }
            }
        } catch (LinkageError | ClassNotFoundException error) {
            return; // it needs a library that no broker has
        }
    }

    private static boolean is(Class<?> type, String name) {
        try {
            return Class.forName(name, false, Settings.class.getClassLoader()).isAssignableFrom(type);
        } catch (ClassNotFoundException error) {
            return false;
        }
    }

    private static boolean isMade(Class<?> type) {
        if (Modifier.isAbstract(type.getModifiers()) || !Modifier.isPublic(type.getModifiers())) {
            return false;
        }
        try {
            type.getConstructor();
            return true;
        } catch (NoSuchMethodException error) {
            return type.getSimpleName().equals("DefaultKafkaPrincipalBuilder"); // ChannelBuilders makes it
        }
    }

    private static boolean refuses(String name, ConfigDef.Validator validator, List<String> value) {
        try {
            validator.ensureValid(name, value);
            return false;
        } catch (ConfigException error) {
            return true;
        }
    }

    private static ConfigDef settings(String[] names, String known) throws Exception {
        for (String name : names) {
            Class<?> type;
            try {
                type = Class.forName(name);
            } catch (ClassNotFoundException error) {
                continue;
            }
            Object module = name.endsWith("$") ? type.getField("MODULE$").get(null) : null;
            ConfigDef largest = null;
            for (Field field : type.getDeclaredFields()) {
                if (ConfigDef.class.isAssignableFrom(field.getType())) {
                    field.setAccessible(true);
                    largest = larger(largest, (ConfigDef) field.get(module), known);
                }
            }
            for (Method method : type.getDeclaredMethods()) {
                boolean isOurs = ConfigDef.class.isAssignableFrom(method.getReturnType());
                if (isOurs && method.getParameterCount() == 0) {
                    method.setAccessible(true);
                    largest = larger(largest, (ConfigDef) method.invoke(module), known);
                }
            }
            if (largest != null) {
                return largest;
            }
        }
        throw new ClassNotFoundException(names[0]);
    }

    private static ConfigDef larger(ConfigDef one, ConfigDef other, String known) {
        if (!other.configKeys().containsKey(known)) {
            return one;
        }
        return one == null || other.configKeys().size() > one.configKeys().size() ? other : one;
    }
}
