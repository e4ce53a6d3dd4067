// Writes twelve records with headers to TOPIC, as one batch if they fit: CODEC, then null and empty keys, values and
// header values, bytes that are no UTF-8. Arguments: BOOTSTRAP TOPIC CODEC... (0.11 and later).
import java.util.Properties;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;

public class Headers {
    public static void main(String[] args) throws Exception {
        byte[][] parts = {null, {}, {(byte) 0xff, 0, '\n', '\\'}, "plain".getBytes("UTF-8"), "\u00fc\u20ac\ud83d\ude00".getBytes("UTF-8")};
        for (int codec = 2; codec < args.length; codec++) {
            Properties p = new Properties();
            p.put("bootstrap.servers", args[0]);
            p.put("linger.ms", "100");
            p.put("compression.type", args[codec]);
            for (String side : new String[] {"key", "value"})
                p.put(side + ".serializer", "org.apache.kafka.common.serialization.ByteArraySerializer");
            KafkaProducer<byte[], byte[]> producer = new KafkaProducer<byte[], byte[]>(p);
            for (int n = 0; n < 12; n++) {
                ProducerRecord<byte[], byte[]> record = new ProducerRecord<byte[], byte[]>(args[1], 0, parts[n % 5], parts[(n + n / 5) % 5]);
                for (int h = 0; h < n % 4; h++)
                    record.headers().add("header " + h, parts[(n + h) % 5]);
                producer.send(record);
            }
            producer.close();
        }
    }
}
