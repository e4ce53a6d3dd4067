// Tells whom a ZooKeeper-era controller elects (PartitionLeaderElectionAlgorithms, 2.4 to 3.9): an answer for each line.
// A line: replicas isr live uncleanAllowed; numbers have commas between them, - stands for none. The answer: the leader or -.
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.Arrays;
import java.util.List;
import kafka.controller.ControllerContext;
import kafka.controller.PartitionLeaderElectionAlgorithms;
import scala.collection.mutable.Buffer;
import scala.jdk.javaapi.CollectionConverters;

public class OfflineElections {
    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = in.readLine()) != null; ) {
            String[] words = line.split(" ");
            var leader = PartitionLeaderElectionAlgorithms.offlinePartitionLeaderElection(
                numbers(words[0]), numbers(words[1]), numbers(words[2]).toSet(), words[3].equals("1"),
                new ControllerContext());
            System.out.println(leader.isEmpty() ? "-" : leader.get().toString());
        }
    }

    private static Buffer<Object> numbers(String word) {
        if (word.equals("-")) return CollectionConverters.asScala(List.<Object>of());
        List<Object> numbers = Arrays.stream(word.split(",")).map(each -> (Object) Integer.valueOf(each)).toList();
        return CollectionConverters.asScala(numbers);
    }
}
