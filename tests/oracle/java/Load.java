// Writes what standard input says, with the client of the release whose jars are on the class path (0.10.2 to 4.3).
//   send TOPIC PARTITION FIRST COUNT CODEC        records FIRST.. as one batch if they fit
//   keyed TOPIC PARTITION FIRST COUNT KEYS        the same with KEYS different keys, for a compacted topic
//   commit|abort|open ID TOPIC PARTITION FIRST COUNT   one transaction (0.11 and later); `open` leaves it open
//   offset GROUP TOPIC PARTITION OFFSET           the commit of a consumer group
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.Collections;
import java.util.Properties;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;

public class Load {
    static String bootstrap;

    static Properties client() {
        Properties p = new Properties();
        p.put("bootstrap.servers", bootstrap);
        p.put("acks", "1");
        p.put("linger.ms", "100");
        p.put("retries", "100");
        p.put("max.block.ms", "60000");
        p.put("request.timeout.ms", "15000");
        for (String side : new String[] {"key", "value"}) {
            p.put(side + ".serializer", "org.apache.kafka.common.serialization.StringSerializer");
            p.put(side + ".deserializer", "org.apache.kafka.common.serialization.StringDeserializer");
        }
        return p;
    }

    static void send(KafkaProducer<String, String> producer, String topic, String partition, String first, String count, int keys) throws Exception {
        int start = Integer.parseInt(first);
        java.util.concurrent.Future<?> last = null;
        for (int n = start; n < start + Integer.parseInt(count); n++)
            last = producer.send(new ProducerRecord<String, String>(topic, Integer.parseInt(partition), "k" + n % keys, "value " + n));
        producer.flush();
        if (last != null) last.get();
    }

    static void call(Object producer, String method) throws Exception {
        KafkaProducer.class.getMethod(method).invoke(producer); // not there before 0.11
    }

    public static void main(String[] args) throws Exception {
        bootstrap = args[0];
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String[] w = line.trim().split(" ");
            Properties p = client();
            if (w[0].equals("send") || w[0].equals("keyed")) {
                boolean keyed = w[0].equals("keyed");
                if (!keyed) p.put("compression.type", w[5]);
                KafkaProducer<String, String> producer = new KafkaProducer<String, String>(p);
                send(producer, w[1], w[2], w[3], w[4], keyed ? Integer.parseInt(w[5]) : Integer.MAX_VALUE);
                producer.close();
            } else if (w[0].equals("offset")) {
                p.put("group.id", w[1]);
                KafkaConsumer<String, String> consumer = new KafkaConsumer<String, String>(p);
                TopicPartition tp = new TopicPartition(w[2], Integer.parseInt(w[3]));
                consumer.assign(Collections.singletonList(tp));
                consumer.commitSync(Collections.singletonMap(tp, new OffsetAndMetadata(Long.parseLong(w[4]))));
                consumer.close();
            } else {
                p.put("transactional.id", w[1]);
                p.put("acks", "all");
                KafkaProducer<String, String> producer = new KafkaProducer<String, String>(p);
                call(producer, "initTransactions");
                call(producer, "beginTransaction");
                send(producer, w[2], w[3], w[4], w[5], Integer.MAX_VALUE);
                if (w[0].equals("commit")) call(producer, "commitTransaction");
                if (w[0].equals("abort")) call(producer, "abortTransaction");
                if (!w[0].equals("open")) producer.close();
            }
        }
        System.exit(0); // an open transaction must not be aborted by an orderly end
    }
}
