// Tells what a broker knows of its cluster (Admin, 3.3 and later): a line of JSON for each line of standard input, which
// is the bootstrap.servers. Elr and lastKnownElr: 4.0 and later.
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.PartitionReassignment;
import org.apache.kafka.clients.admin.QuorumInfo;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.TopicPartitionInfo;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.errors.RetriableException;

public class ClusterState {
    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = in.readLine()) != null; ) {
            try (Admin admin = Admin.create(Map.of("bootstrap.servers", line))) {
                System.out.println(new ObjectMapper().writeValueAsString(patiently(admin)));
            }
        }
    }

    /** One broker may list a topic that the next one asked does not know yet. */
    private static Map<String, Object> patiently(Admin admin) throws Exception {
        for (int left = 50; ; left--) {
            try {
                return told(admin);
            } catch (ExecutionException e) {
                if (left == 0 || !(e.getCause() instanceof RetriableException)) throw e;
                Thread.sleep(200);
            }
        }
    }

    private static Map<String, Object> told(Admin admin) throws Exception {
        Map<String, Object> told = new TreeMap<>(), partitions = new TreeMap<>(), features = new TreeMap<>();
        QuorumInfo quorum = admin.describeMetadataQuorum().quorumInfo().get();
        told.put("leader", quorum.leaderId());
        told.put("epoch", quorum.leaderEpoch());
        told.put("high_watermark", quorum.highWatermark());
        told.put("voters", quorum.voters().stream().map(QuorumInfo.ReplicaState::replicaId).sorted().toList());
        admin.describeFeatures().featureMetadata().get().finalizedFeatures()
            .forEach((name, level) -> features.put(name, level.maxVersionLevel()));
        told.put("features", features);
        told.put("unfenced", ids(admin.describeCluster().nodes().get()).stream().sorted().toList());
        Map<TopicPartition, PartitionReassignment> moving = admin.listPartitionReassignments().reassignments().get();
        for (TopicDescription topic : admin.describeTopics(admin.listTopics().names().get()).allTopicNames().get().values()) {
            ConfigResource resource = new ConfigResource(ConfigResource.Type.TOPIC, topic.name());
            String minIsr = admin.describeConfigs(List.of(resource)).all().get().get(resource)
                .get("min.insync.replicas").value();
            for (TopicPartitionInfo partition : topic.partitions()) {
                PartitionReassignment moves = moving.get(new TopicPartition(topic.name(), partition.partition()));
                Map<String, Object> row = new TreeMap<>();
                row.put("topic_id", topic.topicId().toString());
                row.put("leader", partition.leader() == null ? -1 : partition.leader().id());
                row.put("replicas", ids(partition.replicas()));
                row.put("isr", ids(partition.isr()));
                row.put("elr", ids(maybe(partition, "elr")));
                row.put("last_known_elr", ids(maybe(partition, "lastKnownElr")));
                row.put("adding", moves == null ? List.of() : moves.addingReplicas());
                row.put("removing", moves == null ? List.of() : moves.removingReplicas());
                row.put("min_isr", Math.min(Integer.parseInt(minIsr), partition.replicas().size()));
                partitions.put(topic.name() + "-" + partition.partition(), row);
            }
        }
        told.put("partitions", partitions);
        return told;
    }

    @SuppressWarnings("unchecked")
    private static Iterable<Node> maybe(TopicPartitionInfo partition, String name) throws Exception {
        try {
            Object nodes = TopicPartitionInfo.class.getMethod(name).invoke(partition);
            return nodes == null ? List.of() : (Iterable<Node>) nodes;
        } catch (NoSuchMethodException e) {
            return List.of();
        }
    }

    private static List<Integer> ids(Iterable<Node> nodes) {
        List<Integer> ids = new ArrayList<>();
        nodes.forEach(node -> ids.add(node.id()));
        return ids;
    }
}
