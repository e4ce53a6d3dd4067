// The committed offsets of groups, with the client of any release from 0.10.2 on. BOOTSTRAP write SEED: groups commit
// in a random order, from 0.11 on in transactions too, some of which stay open, and from 2.4 on offsets are deleted.
// BOOTSTRAP ask: writes `GROUP PARTITION OFFSET` for each committed offset of topic t.
import java.util.Collections;
import java.util.HashMap;
import java.util.Map;
import java.util.Properties;
import java.util.Random;
import java.util.Set;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.common.TopicPartition;

public class GroupOffsets {
    private static final int GROUPS = 4, PARTITIONS = 3, PRODUCERS = 3, STEPS = 60;
    private static String bootstrap;

    public static void main(String[] args) throws Exception {
        bootstrap = args[0];
        if (args[1].equals("ask")) ask();
        else write(args[2]);
        System.exit(0); // an open transaction must not be aborted by an orderly end
    }

    private static Properties client(String name, String value) {
        Properties p = new Properties();
        p.put("bootstrap.servers", bootstrap);
        for (String side : new String[] {"key", "value"}) {
            p.put(side + ".serializer", "org.apache.kafka.common.serialization.StringSerializer");
            p.put(side + ".deserializer", "org.apache.kafka.common.serialization.StringDeserializer");
        }
        p.put(name, value);
        return p;
    }

    private static KafkaConsumer<?, ?> consumer(int group) {
        return new KafkaConsumer<String, String>(client("group.id", "g" + group));
    }

    private static void ask() throws Exception {
        for (int group = 0; group < GROUPS; group++)
            for (Map.Entry<?, ?> found : committed(group).entrySet())
                if (found.getValue() != null)
                    System.out.println("g" + group + " " + ((TopicPartition) found.getKey()).partition() + " "
                        + ((OffsetAndMetadata) found.getValue()).offset());
    }

    /** From 2.5 on a consumer waits until no transaction with offsets is open; an administrator does not. */
    private static Map<?, ?> committed(int group) throws Exception {
        try (AutoCloseable admin = admin()) {
            Object result = admin.getClass().getMethod("listConsumerGroupOffsets", String.class).invoke(admin, "g" + group);
            return (Map<?, ?>) get(result, "partitionsToOffsetAndMetadata");
        } catch (ClassNotFoundException | NoSuchMethodException before20) {
            Map<TopicPartition, Object> found = new HashMap<>();
            try (KafkaConsumer<?, ?> consumer = consumer(group)) {
                for (int n = 0; n < PARTITIONS; n++) {
                    TopicPartition partition = new TopicPartition("t", n);
                    found.put(partition, KafkaConsumer.class.getMethod("committed", TopicPartition.class).invoke(consumer, partition));
                }
            }
            return found;
        }
    }

    private static AutoCloseable admin() throws Exception {
        Class<?> admins = Class.forName("org.apache.kafka.clients.admin.AdminClient"); // from 0.11 on
        return (AutoCloseable) admins.getMethod("create", Properties.class).invoke(null, client("client.id", "admin"));
    }

    private static Object get(Object result, String method) throws Exception {
        return ((java.util.concurrent.Future<?>) result.getClass().getMethod(method).invoke(result)).get();
    }

    private static void write(String seed) throws Exception {
        Random random = new Random(Long.parseLong(seed));
        boolean transactions = has("initTransactions");
        KafkaProducer<?, ?>[] producers = new KafkaProducer[PRODUCERS];
        boolean[] open = new boolean[PRODUCERS];
        for (int n = 0; transactions && n < PRODUCERS; n++) {
            producers[n] = new KafkaProducer<String, String>(client("transactional.id", "p" + n));
            call(producers[n], "initTransactions");
        }
        for (int step = 0; step < STEPS; step++) {
            int at = random.nextInt(PRODUCERS), group = random.nextInt(GROUPS);
            TopicPartition partition = new TopicPartition("t", random.nextInt(PARTITIONS));
            Map<TopicPartition, OffsetAndMetadata> offsets = Collections.singletonMap(partition, new OffsetAndMetadata(step));
            int choice = random.nextInt(6);
            if (choice == 0) {
                delete("g" + group, partition);
            } else if (choice < 3 || !transactions) {
                try (KafkaConsumer<?, ?> consumer = consumer(group)) {
                    consumer.assign(Collections.singleton(partition));
                    consumer.commitSync(offsets);
                }
            } else if (open[at] && choice == 3) {
                call(producers[at], random.nextBoolean() ? "commitTransaction" : "abortTransaction");
                open[at] = false;
            } else {
                if (!open[at]) call(producers[at], "beginTransaction");
                open[at] = true;
                send(producers[at], offsets, "g" + group);
            }
        }
    }

    private static boolean has(String method) {
        for (java.lang.reflect.Method known : KafkaProducer.class.getMethods()) if (known.getName().equals(method)) return true;
        return false;
    }

    private static void call(Object producer, String method) throws Exception {
        KafkaProducer.class.getMethod(method).invoke(producer);
    }

    private static void send(Object producer, Map<?, ?> offsets, String group) throws Exception {
        String method = "sendOffsetsToTransaction";
        try {
            Class<?> metadata = Class.forName("org.apache.kafka.clients.consumer.ConsumerGroupMetadata");
            Object of = metadata.getConstructor(String.class).newInstance(group);
            KafkaProducer.class.getMethod(method, Map.class, metadata).invoke(producer, offsets, of);
        } catch (ClassNotFoundException | NoSuchMethodException before25) {
            KafkaProducer.class.getMethod(method, Map.class, String.class).invoke(producer, offsets, group);
        }
    }

    /** Deletes an offset where the release can and has one. */
    private static void delete(String group, TopicPartition partition) throws Exception {
        try (AutoCloseable admin = admin()) {
            String method = "deleteConsumerGroupOffsets";
            get(admin.getClass().getMethod(method, String.class, Set.class).invoke(admin, group, Collections.singleton(partition)), "all");
        } catch (ClassNotFoundException | NoSuchMethodException | java.util.concurrent.ExecutionException notHere) {
            return;
        }
    }
}
