// Lists the settings of the release on the class path. Argument: a folder, which is not used. A case is "broker" or
// "topic". An answer has them with tabs between them, each with NAME TYPE VALIDATOR; of a list also "no-list" if it
// may not be empty, and "no-entry" if none of its entries may.
// By reflection: classes, packages and visibility change from release to release.
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.common.config.ConfigException;

public class Settings {
    private static final String[] BROKER = {
        "kafka.server.KafkaConfig$", "org.apache.kafka.server.config.AbstractKafkaConfig"
    };
    private static final String[] TOPIC = {
        "kafka.log.LogConfig$", "org.apache.kafka.storage.internals.log.LogConfig"
    };

    public static void main(String[] args) throws Exception {
        BufferedReader cases = new BufferedReader(new InputStreamReader(System.in));
        PrintStream answers = System.out;
        System.setOut(System.err);
        for (String line; (line = cases.readLine()) != null; ) {
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
