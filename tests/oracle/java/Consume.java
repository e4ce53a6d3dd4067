// Reads whole partitions with the consumer of the release. The argument is the broker; each line of standard input,
// TOPIC PARTITION, is answered by a line of these, the log start and the log end, and by one for each record before it:
//   = TOPIC PARTITION START END
//   TOPIC PARTITION OFFSET KEY VALUE        in hexadecimal behind an x, - for null
// A partition that cannot be read through within a minute ends it with an exception.
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

public class Consume {
    private static final long DEADLINE = System.nanoTime() + Duration.ofMinutes(1).toNanos();

    private static String hex(byte[] bytes) {
        return bytes == null ? "-" : "x" + HexFormat.of().formatHex(bytes);
    }

    public static void main(String[] args) throws Exception {
        List<TopicPartition> partitions = new ArrayList<>();
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line = in.readLine(); line != null; line = in.readLine())
            partitions.add(new TopicPartition(line.split(" ")[0], Integer.parseInt(line.split(" ")[1])));
        Properties settings = new Properties();
        settings.put("bootstrap.servers", args[0]);
        settings.put("enable.auto.commit", "false");
        settings.put("auto.offset.reset", "none");
        settings.put("fetch.max.wait.ms", "10");
        StringBuilder out = new StringBuilder();
        try (KafkaConsumer<byte[], byte[]> consumer =
                new KafkaConsumer<>(settings, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            Map<TopicPartition, Long> starts = consumer.beginningOffsets(partitions);
            Map<TopicPartition, Long> ends = consumer.endOffsets(partitions);
            consumer.assign(partitions);
            starts.forEach(consumer::seek);
            List<TopicPartition> left = new ArrayList<>(partitions);
            for (;;) {
                left.removeIf(partition -> consumer.position(partition) >= ends.get(partition));
                if (left.isEmpty())
                    break;
                if (System.nanoTime() > DEADLINE)
                    throw new IllegalStateException("not read to their ends: " + left);
                for (ConsumerRecord<byte[], byte[]> record : consumer.poll(Duration.ofMillis(100)))
                    out.append(record.topic() + " " + record.partition() + " " + record.offset() + " "
                        + hex(record.key()) + " " + hex(record.value()) + "\n");
            }
            for (TopicPartition partition : partitions)
                out.append("= " + partition.topic() + " " + partition.partition() + " " + starts.get(partition) + " "
                    + ends.get(partition) + "\n");
        }
        System.out.print(out);
    }
}
