// Asks the configuration classes of the release on the class path whether they accept settings. Argument: a folder,
// which is not used. A case is "broker" or "topic", then NAME=VALUE, with tabs between them; a broker of KRaft has
// process.roles, node.id and its listeners too, except those that a case takes away as "-NAME". A case "class NAME" asks
// whether there is such a class. An answer is "ok" or the first line of the exception.
// By reflection: packages and constructors change from release to release.
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.util.Map;
import java.util.Properties;

public class Limits {
    public static void main(String[] args) throws Exception {
        BufferedReader cases = new BufferedReader(new InputStreamReader(System.in));
        PrintStream answers = System.out;
        System.setOut(System.err);
        for (String line; (line = cases.readLine()) != null; ) {
            answers.println(answer(line.split("\t")));
        }
        answers.flush();
    }

    private static String answer(String[] words) throws Exception {
        try {
            switch (words[0]) {
                case "class":
                    Class.forName(words[1]);
                    return "ok";
                case "broker":
                    Class<?> broker = Class.forName("kafka.server.KafkaConfig");
                    broker.getMethod("fromProps", Properties.class).invoke(null, settings(words, true));
                    return "ok";
                default:
                    Class<?> topic = firstOf("org.apache.kafka.storage.internals.log.LogConfig", "kafka.log.LogConfig");
                    topic.getMethod("fromProps", Map.class, Properties.class)
                        .invoke(null, new java.util.HashMap<String, Object>(), settings(words, false));
                    return "ok";
            }
        } catch (ClassNotFoundException error) {
            return "no class";
        } catch (InvocationTargetException error) {
            return String.valueOf(error.getCause().getMessage()).split("\n")[0];
        }
    }

    private static Properties settings(String[] words, boolean ofBroker) {
        Properties settings = new Properties();
        if (ofBroker) {
            settings.setProperty("process.roles", "broker");
            settings.setProperty("node.id", "1");
            settings.setProperty("listeners", "PLAINTEXT://localhost:9092");
            settings.setProperty("controller.listener.names", "CONTROLLER");
            settings.setProperty("controller.quorum.voters", "2@localhost:9093");
            settings.setProperty("listener.security.protocol.map", "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT");
        }
        for (int at = 1; at < words.length; at++) {
            String[] pair = words[at].split("=", 2);
            if (pair.length == 1) {
                settings.remove(pair[0].substring(1));
            } else {
                settings.setProperty(pair[0], pair[1]);
            }
        }
        return settings;
    }

    private static Class<?> firstOf(String... names) throws ClassNotFoundException {
        for (String name : names) {
            try {
                return Class.forName(name);
            } catch (ClassNotFoundException error) {
                continue;
            }
        }
        throw new ClassNotFoundException(names[0]);
    }
}
