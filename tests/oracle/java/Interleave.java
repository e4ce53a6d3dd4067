// Writes transactions of several producers into one partition, begun and ended in a random order:
// BOOTSTRAP TOPIC SEED STEPS. All are ended when it returns.
import java.util.Properties;
import java.util.Random;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.StringSerializer;

public class Interleave {
    private static final int PRODUCERS = 4;

    public static void main(String[] args) {
        Random random = new Random(Long.parseLong(args[2]));
        var producers = new KafkaProducer[PRODUCERS];
        boolean[] open = new boolean[PRODUCERS];
        for (int i = 0; i < PRODUCERS; i++) {
            Properties settings = new Properties();
            settings.put("bootstrap.servers", args[0]);
            settings.put("transactional.id", "interleaved-" + args[2] + "-" + i);
            producers[i] = new KafkaProducer<>(settings, new StringSerializer(), new StringSerializer());
            producers[i].initTransactions();
        }
        for (int step = Integer.parseInt(args[3]); step-- > 0; ) write(args[1], random, producers, open);
        for (int i = 0; i < PRODUCERS; i++) {
            if (open[i]) producers[i].abortTransaction();
            producers[i].close();
        }
    }

    @SuppressWarnings("unchecked")
    private static void write(String topic, Random random, KafkaProducer<?, ?>[] producers, boolean[] open) {
        int at = random.nextInt(PRODUCERS);
        var producer = (KafkaProducer<String, String>) producers[at];
        if (!open[at]) producer.beginTransaction();
        else if (random.nextInt(3) == 0) {
            if (random.nextInt(3) > 0) producer.abortTransaction();
            else producer.commitTransaction();
            open[at] = false;
            return;
        }
        open[at] = true;
        producer.send(new ProducerRecord<>(topic, 0, null, "value"));
        producer.flush();
    }
}
