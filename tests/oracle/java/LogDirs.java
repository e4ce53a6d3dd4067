// Asks whether a broker (2.8 to 4.3) takes its log dirs for its own, by their meta.properties: each line of standard
// input is the log dirs of one, separated by commas; the answer is "starts", or why it does not.
// Arguments: a folder, and kraft or zk. With KRaft the broker has the id 1.
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Properties;
import org.slf4j.LoggerFactory;

public class LogDirs {
    private static final String ENSEMBLE = "org.apache.kafka.metadata.properties.MetaPropertiesEnsemble";

    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String answer = "starts";
            try {
                if (args[1].equals("kraft")) kraft(line);
                else zooKeeper(line.split(","));
            } catch (InvocationTargetException e) {
                answer = e.getCause().toString().replace('\n', ' ');
            }
            System.out.println(answer);
        }
    }

    private static void kraft(String dirs) throws Exception {
        Properties settings = new Properties();
        settings.put("log.dirs", dirs);
        settings.put("process.roles", "broker");
        settings.put("node.id", "1");
        settings.put("controller.quorum.voters", "100@127.0.0.1:1");
        settings.put("controller.listener.names", "CONTROLLER");
        settings.put("listeners", "PLAINTEXT://127.0.0.1:2");
        Object config = Class.forName("kafka.server.KafkaConfig").getMethod("fromProps", Properties.class, boolean.class)
            .invoke(null, settings, false);
        Class<?> server = Class.forName("kafka.server.KafkaRaftServer$");
        Method initialize = named(server, "initializeLogDirs");
        Object[] values = {config, LoggerFactory.getLogger("test"), ""}; // up to 3.6 the first alone
        initialize.invoke(server.getField("MODULE$").get(null), Arrays.copyOf(values, initialize.getParameterCount()));
    }

    private static void zooKeeper(String[] dirs) throws Exception {
        Class<?> loading;
        try {
            loading = Class.forName(ENSEMBLE + "$Loader"); // from 3.7 on
        } catch (ClassNotFoundException e) {
            scala.collection.immutable.List<String> all = (scala.collection.immutable.List<String>) (Object)
                scala.collection.immutable.Nil$.MODULE$;
            for (int i = dirs.length; i-- > 0; ) all = new scala.collection.immutable.$colon$colon<>(dirs[i], all);
            Class<?> reader = Class.forName("kafka.server.BrokerMetadataCheckpoint$");
            Method read = named(reader, "getBrokerMetadataAndOfflineDirs");
            Object[] values = {all, true, false}; // missing files are ignored, KRaft is not run
            read.invoke(reader.getField("MODULE$").get(null), Arrays.copyOf(values, read.getParameterCount()));
            return;
        }
        Object loader = loading.getConstructor().newInstance();
        if (has(loading, "addLogDirs")) named(loading, "addLogDirs").invoke(loader, Arrays.asList(dirs)); // from 3.9 on
        else for (String dir : dirs) named(loading, "addLogDir").invoke(loader, dir);
        Class<? extends Enum> flag = (Class<? extends Enum>) Class.forName(ENSEMBLE + "$VerificationFlag");
        Object ensemble = named(loading, "load").invoke(loader);
        named(ensemble.getClass(), "verify").invoke(ensemble, Optional.empty(), OptionalInt.empty(),
            EnumSet.of(Enum.valueOf(flag, "REQUIRE_V0")));
    }

    private static boolean has(Class<?> type, String name) {
        return Arrays.stream(type.getMethods()).anyMatch(each -> each.getName().equals(name));
    }

    private static Method named(Class<?> type, String name) {
        return Arrays.stream(type.getMethods()).filter(each -> each.getName().equals(name)).findFirst().orElseThrow();
    }
}
