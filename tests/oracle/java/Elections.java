// Tells what a KRaft controller makes of a partition (PartitionChangeBuilder, 3.7 and later): an answer for each line.
// A line: replicas isr elr lastKnown leader acceptable targetIsr leftUncleanly minIsr elrEnabled uncleanAllowed;
// numbers of a list have commas between them, - stands for none. The answer: isr elr (sorted) lastKnown leader.
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.IntPredicate;
import java.util.stream.Collectors;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.metadata.PartitionChangeRecord;
import org.apache.kafka.controller.PartitionChangeBuilder;
import org.apache.kafka.metadata.LeaderRecoveryState;
import org.apache.kafka.metadata.PartitionRegistration;
import org.apache.kafka.server.common.ApiMessageAndVersion;
import org.apache.kafka.server.common.MetadataVersion;

public class Elections {
    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = in.readLine()) != null; ) {
            String[] words = line.split(" ");
            PartitionRegistration before = registration(words);
            List<Integer> acceptable = list(words[5]);
            PartitionChangeBuilder builder = builder(before, acceptable::contains, Integer.parseInt(words[8]), words[9].equals("1"));
            if (words[10].equals("1")) builder.setElection(PartitionChangeBuilder.Election.UNCLEAN);
            if (!words[7].equals("-")) builder.setUncleanShutdownReplicas(list(words[7]));
            builder.setTargetIsr(list(words[6])).setDefaultDirProvider(broker -> Uuid.ZERO_UUID);
            Optional<ApiMessageAndVersion> change = builder.build();
            PartitionRegistration after =
                change.isEmpty() ? before : before.merge((PartitionChangeRecord) change.get().message());
            // Without a leader before, 4.0 knows -1 as the last one: nobody.
            int[] lastKnown = Arrays.stream(after.lastKnownElr).filter(number -> number != -1).toArray();
            System.out.println(
                text(after.isr) + " " + text(Arrays.stream(after.elr).sorted().toArray()) + " " + text(lastKnown) + " " + after.leader);
        }
    }

    private static PartitionRegistration registration(String[] words) {
        int[] replicas = array(words[0]);
        Uuid[] directories = new Uuid[replicas.length];
        Arrays.setAll(directories, at -> new Uuid(7, at + 1));
        return new PartitionRegistration.Builder()
            .setReplicas(replicas).setDirectories(directories).setIsr(array(words[1])).setElr(array(words[2]))
            .setLastKnownElr(array(words[3])).setLeader(Integer.parseInt(words[4]))
            .setLeaderRecoveryState(LeaderRecoveryState.RECOVERED).setLeaderEpoch(5).setPartitionEpoch(9).build();
    }

    /** From 4.1 the feature is an argument of the constructor. */
    private static PartitionChangeBuilder builder(
            PartitionRegistration partition, IntPredicate acceptable, int minIsr, boolean elr) throws Exception {
        var made = PartitionChangeBuilder.class.getConstructors()[0];
        Uuid topic = new Uuid(1, 1);
        MetadataVersion version = MetadataVersion.latestTesting();
        if (made.getParameterCount() == 7) {
            return (PartitionChangeBuilder) made.newInstance(partition, topic, 0, acceptable, version, minIsr, elr);
        }
        var builder = (PartitionChangeBuilder) made.newInstance(partition, topic, 0, acceptable, version, minIsr);
        return (PartitionChangeBuilder) PartitionChangeBuilder.class
            .getMethod("setEligibleLeaderReplicasEnabled", boolean.class).invoke(builder, elr);
    }

    private static List<Integer> list(String word) {
        return Arrays.stream(array(word)).boxed().toList();
    }

    private static int[] array(String word) {
        return word.equals("-") ? new int[0] : Arrays.stream(word.split(",")).mapToInt(Integer::parseInt).toArray();
    }

    private static String text(int[] numbers) {
        if (numbers.length == 0) return "-";
        return Arrays.stream(numbers).mapToObj(String::valueOf).collect(Collectors.joining(","));
    }
}
