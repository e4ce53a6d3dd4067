// Makes topics part of the metadata with which a formatted controller of 3.9 or later begins: no broker has to run for
// that.
// The argument is the log dir of the metadata; each line of standard input is a partition:
//   TOPIC TOPIC_ID PARTITION BROKER,... DIRECTORY_ID,... LEADER_EPOCH LEADER [NAME=VALUE,...]
// The leader is alone in sync; the topic has these settings.
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.reflect.Constructor;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.metadata.ConfigRecord;
import org.apache.kafka.common.metadata.PartitionRecord;
import org.apache.kafka.common.metadata.TopicRecord;
import org.apache.kafka.metadata.bootstrap.BootstrapDirectory;
import org.apache.kafka.metadata.bootstrap.BootstrapMetadata;
import org.apache.kafka.server.common.ApiMessageAndVersion;

public class Topics {
    private static final short WITH_DIRECTORIES = 1;

    public static void main(String[] args) throws Exception {
        BootstrapDirectory directory = open(args[0]);
        List<ApiMessageAndVersion> records = new ArrayList<>(directory.read().records());
        Set<String> topics = new HashSet<>();
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String[] words = line.split(" ");
            Uuid id = Uuid.fromString(words[1]);
            if (topics.add(words[0]))
                records.add(new ApiMessageAndVersion(new TopicRecord().setName(words[0]).setTopicId(id), (short) 0));
            List<Integer> brokers = Arrays.stream(words[3].split(",")).map(Integer::valueOf).toList();
            List<Uuid> directories = Arrays.stream(words[4].split(",")).map(Uuid::fromString).toList();
            Integer leader = Integer.valueOf(words[6]);
            PartitionRecord partition = new PartitionRecord().setTopicId(id)
                .setPartitionId(Integer.parseInt(words[2])).setReplicas(brokers).setIsr(List.of(leader))
                .setLeader(leader).setDirectories(directories).setLeaderEpoch(Integer.parseInt(words[5]))
                .setPartitionEpoch(0);  // 3.9 skips a leader of epoch -1, which is the default.
            records.add(new ApiMessageAndVersion(partition, WITH_DIRECTORIES));
            for (String setting : words.length > 7 ? words[7].split(",") : new String[0])
                records.add(new ApiMessageAndVersion(new ConfigRecord().setResourceType((byte) 2).setResourceName(words[0])
                    .setName(setting.split("=")[0]).setValue(setting.split("=")[1]), (short) 0));
        }
        directory.writeBinaryFile(BootstrapMetadata.fromRecords(records, "the test"));
    }

    /** Up to 3.9 the constructor also takes what inter.broker.protocol.version says. */
    private static BootstrapDirectory open(String folder) throws Exception {
        Constructor<?> make = BootstrapDirectory.class.getConstructors()[0];
        Object[] arguments = make.getParameterCount() == 1 ? new Object[]{folder} : new Object[]{folder, Optional.empty()};
        return (BootstrapDirectory) make.newInstance(arguments);
    }
}
