// Asks a release which of its fetcher threads fetches a partition. Each line is the number of threads for a leader
// (num.replica.fetchers), the topic and the partition, and is answered by a line with the number of the thread.
// By reflection: constructors and arguments change from release to release.
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Properties;
import org.apache.kafka.common.TopicPartition;

public class FetcherIds {
    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, "UTF-8"));
        PrintStream out = new PrintStream(System.out, false, "UTF-8");
        Method method = Arrays.stream(Class.forName("kafka.server.AbstractFetcherManager").getDeclaredMethods())
            .filter(each -> each.getName().endsWith("getFetcherId")).findFirst().orElseThrow();
        method.setAccessible(true);
        Map<String, Object> managers = new HashMap<>();
        for (String line; (line = in.readLine()) != null; ) {
            String[] words = line.split(" ");
            if (!managers.containsKey(words[0])) managers.put(words[0], manager(words[0]));
            int partition = Integer.parseInt(words[2]);
            out.println(method.getParameterCount() == 2
                ? method.invoke(managers.get(words[0]), words[1], partition)
                : method.invoke(managers.get(words[0]), new TopicPartition(words[1], partition)));
        }
        out.flush();
        System.exit(0);
    }

    private static Object manager(String threads) throws Exception {
        Properties settings = new Properties();
        settings.putAll(Map.of("num.replica.fetchers", threads, "process.roles", "broker", "node.id", "1",
            "controller.listener.names", "CONTROLLER", "controller.quorum.voters", "100@127.0.0.1:1", "listeners",
            "PLAINTEXT://127.0.0.1:2", "zookeeper.connect", "127.0.0.1:1", "broker.id", "1"));
        Class<?> configs = Class.forName("kafka.server.KafkaConfig");
        Object config = configs.getMethod("fromProps", Properties.class, boolean.class).invoke(null, settings, false);
        Constructor<?> make = Class.forName("kafka.server.ReplicaFetcherManager").getConstructors()[0];
        return make.newInstance(Arrays.stream(make.getParameterTypes())
            .map(type -> type == configs ? config : type == scala.Option.class ? scala.Option.empty() : null)
            .toArray());
    }
}
