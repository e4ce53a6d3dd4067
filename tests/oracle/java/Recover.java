// Loads the partition directories that standard input names, as a start after an unclean stop does (UnifiedLog, 4.1 to
// 4.3), and prints for each the size of its first log, and its log end offset or the exception. WRITES into them.
import java.io.BufferedReader;
import java.io.File;
import java.io.InputStreamReader;
import java.util.Optional;
import java.util.Properties;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.server.util.KafkaScheduler;
import org.apache.kafka.storage.internals.log.LogConfig;
import org.apache.kafka.storage.internals.log.LogDirFailureChannel;
import org.apache.kafka.storage.internals.log.ProducerStateManagerConfig;
import org.apache.kafka.storage.internals.log.UnifiedLog;
import org.apache.kafka.storage.log.metrics.BrokerTopicStats;

public class Recover {
    static String load(File directory, KafkaScheduler scheduler) {
        try {
            UnifiedLog log = UnifiedLog.create(directory, new LogConfig(new Properties()), 0L, 0L, scheduler,
                new BrokerTopicStats(), Time.SYSTEM, 300_000, new ProducerStateManagerConfig(86_400_000, false), 600_000,
                new LogDirFailureChannel(1), false, Optional.empty());
            return String.valueOf(log.logEndOffset());
        } catch (Throwable failure) {
            return failure.getClass().getSimpleName();
        }
    }

    public static void main(String[] args) throws Exception {
        KafkaScheduler scheduler = new KafkaScheduler(1);
        scheduler.startup();
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String end = load(new File(line), scheduler);
            System.out.println(new File(line, "00000000000000000000.log").length() + " " + end);
        }
        scheduler.shutdown();
    }
}
