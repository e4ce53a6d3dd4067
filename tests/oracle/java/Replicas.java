// Changes topics and their replicas (3.3 and later). The argument is bootstrap.servers; standard input says:
//   create TOPIC BROKER:BROKER,... NAME=VALUE,...   the replicas of each partition, the configuration if there is any
//   delete TOPIC
//   alter TOPIC NAME=VALUE,...   the changed configuration
//   reassign TOPIC PARTITION BROKER:BROKER
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.NewPartitionReassignment;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigResource;

public class Replicas {
    static List<Integer> brokers(String text) {
        List<Integer> found = new ArrayList<>();
        for (String broker : text.split(":"))
            found.add(Integer.parseInt(broker));
        return found;
    }

    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", args[0]))) {
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                String[] w = line.split(" ");
                if (w[0].equals("create")) {
                    Map<Integer, List<Integer>> replicas = new java.util.HashMap<>();
                    for (String each : w[2].split(","))
                        replicas.put(replicas.size(), brokers(each));
                    Map<String, String> configs = new java.util.HashMap<>();
                    for (String each : w.length > 3 ? w[3].split(",") : new String[0])
                        configs.put(each.split("=")[0], each.split("=")[1]);
                    admin.createTopics(List.of(new NewTopic(w[1], replicas).configs(configs))).all().get();
                } else if (w[0].equals("alter")) {
                    List<AlterConfigOp> changes = new ArrayList<>();
                    for (String each : w[2].split(",")) {
                        ConfigEntry entry = new ConfigEntry(each.split("=")[0], each.split("=")[1]);
                        changes.add(new AlterConfigOp(entry, AlterConfigOp.OpType.SET));
                    }
                    ConfigResource topic = new ConfigResource(ConfigResource.Type.TOPIC, w[1]);
                    admin.incrementalAlterConfigs(Map.of(topic, changes)).all().get();
                } else if (w[0].equals("delete")) {
                    admin.deleteTopics(List.of(w[1])).all().get();
                } else {
                    TopicPartition partition = new TopicPartition(w[1], Integer.parseInt(w[2]));
                    Optional<NewPartitionReassignment> target = Optional.of(new NewPartitionReassignment(brokers(w[3])));
                    admin.alterPartitionReassignments(Map.of(partition, target)).all().get();
                }
            }
        }
    }
}
