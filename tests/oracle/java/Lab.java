// A client that stays: does what each line of standard input says, answers with lines, and "." ends the answer.
//   create TOPIC 1,2;2,1 NAME=VALUE ...          replicas of each partition, the first of them preferred
//   delete TOPIC
//   send TOPIC PARTITION COUNT CODEC ACKS        prints "a TOPIC PARTITION OFFSET VALUE" for each acknowledged record;
//                                                partition "-": the producer chooses it by key
//   keyed TOPIC PARTITION COUNT CODEC ACKS       the same with seven keys; prints the key of each, too
//   commit|abort|open TOPIC PARTITION COUNT      one transaction; `commit` prints what it has committed
//   offset GROUP TOPIC PARTITION OFFSET          the commit of a consumer group
//   share GROUP TOPIC COUNT                      a share group accepts so many records from the beginning of the topic
//                                                on, and releases the others; prints "r TOPIC PARTITION OFFSET VALUE"
//   configure TOPIC NAME=VALUE
//   acl USER TOPIC                               lets a user read a topic
//   scram USER PASSWORD                          gives a user credentials of SCRAM-SHA-512
//   quota USER RATE                              limits what a user produces, in bytes a second
//   trim TOPIC PARTITION OFFSET                  delete the records below
//   reassign TOPIC PARTITION 1,2                 begin to move a partition
//   move TOPIC PARTITION BROKER PATH             begin to move a replica to another log dir
//   slow BROKER                                  let it move them at 100 bytes a second
//   elr 0|1                                      the level of the feature eligible.leader.replicas.version
//   elect preferred|unclean                      prints "e TOPIC PARTITION ERROR"
//   read TOPIC PARTITION                         "p TOPIC PARTITION LEADER START END", "r TOPIC PARTITION OFFSET VALUE", "x TOPIC PARTITION OFFSET ERROR"
//   leaders                                      "l TOPIC PARTITION LEADER ISR", of all partitions; -1: none
//   dirs BROKER                                  "d BROKER PATH ERROR"
//   group GROUP                                  "g GROUP TOPIC PARTITION OFFSET"
// What fails prints "! COMMAND: ERROR". The argument is bootstrap.servers.
import org.apache.kafka.clients.admin.ScramCredentialInfo;
import org.apache.kafka.clients.admin.ScramMechanism;
import org.apache.kafka.clients.admin.UserScramCredentialUpsertion;
import org.apache.kafka.common.acl.AccessControlEntry;
import org.apache.kafka.common.acl.AclBinding;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.acl.AclPermissionType;
import org.apache.kafka.common.quota.ClientQuotaAlteration;
import org.apache.kafka.common.quota.ClientQuotaEntity;
import org.apache.kafka.common.resource.PatternType;
import org.apache.kafka.common.resource.ResourcePattern;
import org.apache.kafka.common.resource.ResourceType;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.*;
import org.apache.kafka.clients.consumer.*;
import org.apache.kafka.clients.producer.*;
import org.apache.kafka.common.ElectionType;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.TopicPartitionReplica;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

public class Lab {
    static final long PATIENCE = 15; // seconds
    static String bootstrap;
    static Admin admin;
    static int made = 0;

    static Properties settings(String... more) {
        Properties p = new Properties();
        p.put("bootstrap.servers", bootstrap);
        p.put("request.timeout.ms", "10000");
        p.put("default.api.timeout.ms", "15000");
        p.put("reconnect.backoff.max.ms", "500");
        for (int n = 0; n < more.length; n += 2) p.put(more[n], more[n + 1]);
        return p;
    }

    static KafkaProducer<String, String> producer(String... more) {
        Properties p = settings(more);
        p.remove("default.api.timeout.ms");
        p.put("linger.ms", "50");
        p.put("max.block.ms", "6000");
        p.put("request.timeout.ms", "4000");
        p.put("delivery.timeout.ms", "5000"); // too few replicas in sync: goes on for as long
        return new KafkaProducer<>(p, new StringSerializer(), new StringSerializer());
    }

    static void send(KafkaProducer<String, String> producer, String[] w, boolean say) throws Exception {
        List<Future<RecordMetadata>> sent = new ArrayList<>();
        List<String> values = new ArrayList<>();
        for (int n = Integer.parseInt(w[3]); n > 0; n--) {
            String value = "v" + made++;
            values.add(value);
            String padded = value + "x".repeat(40);
            String key = w[0].equals("keyed") ? "k" + n % 7 : "k" + value;
            Integer partition = w[2].equals("-") ? null : Integer.valueOf(w[2]);
            sent.add(producer.send(new ProducerRecord<>(w[1], partition, key, padded)));
        }
        producer.flush();
        for (int n = 0; n < sent.size(); n++) {
            try {
                RecordMetadata told = sent.get(n).get();
                String key = w[0].equals("keyed") ? " k" + (sent.size() - n) % 7 : "";
                if (say) System.out.println("a " + w[1] + " " + told.partition() + " " + told.offset() + " " + values.get(n) + key);
            } catch (java.util.concurrent.ExecutionException e) {
                System.out.println("! not acknowledged: " + e.getCause().getClass().getSimpleName());
            }
        }
    }

    static void transaction(String[] w) throws Exception {
        KafkaProducer<String, String> producer = producer("transactional.id", "t" + w[1] + made, "acks", "all");
        producer.initTransactions();
        producer.beginTransaction();
        send(producer, w, w[0].equals("commit"));
        if (w[0].equals("commit")) producer.commitTransaction();
        if (w[0].equals("abort")) producer.abortTransaction();
        if (!w[0].equals("open")) producer.close();
    }

    static void create(String[] w) throws Exception {
        Map<Integer, List<Integer>> replicas = new HashMap<>();
        for (String of : w[2].split(";")) {
            List<Integer> list = new ArrayList<>();
            for (String id : of.split(",")) list.add(Integer.parseInt(id));
            replicas.put(replicas.size(), list);
        }
        Map<String, String> configs = new HashMap<>();
        for (int n = 3; n < w.length; n++) configs.put(w[n].split("=")[0], w[n].split("=")[1]);
        admin.createTopics(List.of(new NewTopic(w[1], replicas).configs(configs))).all().get();
    }

    static void offset(String[] w) {
        Properties p = settings("group.id", w[1]);
        try (KafkaConsumer<String, String> consumer = new KafkaConsumer<>(p, new StringDeserializer(), new StringDeserializer())) {
            TopicPartition tp = new TopicPartition(w[2], Integer.parseInt(w[3]));
            consumer.assign(List.of(tp));
            consumer.commitSync(Map.of(tp, new OffsetAndMetadata(Long.parseLong(w[4]))));
            System.out.println("g " + w[1] + " " + w[2] + " " + w[3] + " " + w[4]);
        }
    }

    static void share(String[] w) throws Exception {
        admin.incrementalAlterConfigs(Map.of(new ConfigResource(ConfigResource.Type.GROUP, w[1]), List.of(new AlterConfigOp(
            new ConfigEntry("share.auto.offset.reset", "earliest"), AlterConfigOp.OpType.SET)))).all().get();
        Properties p = settings("group.id", w[1], "share.acknowledgement.mode", "explicit");
        try (KafkaShareConsumer<String, String> consumer = new KafkaShareConsumer<>(p, new StringDeserializer(), new StringDeserializer())) {
            consumer.subscribe(List.of(w[2]));
            int left = Integer.parseInt(w[3]);
            long deadline = System.nanoTime() + Duration.ofSeconds(3 * PATIENCE).toNanos();
            while (left > 0 && System.nanoTime() < deadline) {
                for (ConsumerRecord<String, String> record : consumer.poll(Duration.ofMillis(500))) {
                    consumer.acknowledge(record, left > 0 ? AcknowledgeType.ACCEPT : AcknowledgeType.RELEASE);
                    if (left-- > 0) System.out.println("r " + record.topic() + " " + record.partition() + " " + record.offset() + " " + String.valueOf(record.value()).replaceAll("x+$", ""));
                }
                consumer.commitSync();
            }
        }
    }

    static void read(String[] w) throws Exception {
        TopicPartition tp = new TopicPartition(w[1], Integer.parseInt(w[2]));
        String at = w[1] + " " + w[2] + " ";
        TopicDescription topic = admin.describeTopics(List.of(w[1])).allTopicNames().get(PATIENCE, TimeUnit.SECONDS).get(w[1]);
        var seats = topic.partitions().stream().filter(each -> each.partition() == tp.partition()).findFirst();
        if (seats.isEmpty() || seats.get().leader() == null || seats.get().leader().isEmpty()) {
            System.out.println("p " + at + "-1 -1 -1");
            return;
        }
        Properties p = settings("enable.auto.commit", "false", "auto.offset.reset", "earliest", "fetch.max.wait.ms", "10", "max.partition.fetch.bytes", "100", "client.dns.lookup", "use_all_dns_ips");
        try (KafkaConsumer<String, String> consumer = new KafkaConsumer<>(p, new StringDeserializer(), new StringDeserializer())) {
            consumer.assign(List.of(tp));
            long start = consumer.beginningOffsets(List.of(tp)).get(tp), end = consumer.endOffsets(List.of(tp)).get(tp);
            System.out.println("p " + at + seats.get().leader().id() + " " + start + " " + end);
            consumer.seek(tp, start); // a batch a fetch: the broker looks each of them up in its index
            long deadline = System.nanoTime() + Duration.ofSeconds(PATIENCE).toNanos();
            while (consumer.position(tp) < end && System.nanoTime() < deadline) {
                long position = consumer.position(tp);
                try {
                    for (ConsumerRecord<String, String> record : consumer.poll(Duration.ofMillis(200)))
                        System.out.println("r " + at + record.offset() + " " + String.valueOf(record.value()).replaceAll("x+$", ""));
                } catch (org.apache.kafka.common.KafkaException e) { // one record or batch cannot be read: the next
                    position = Math.max(position, consumer.position(tp));
                    System.out.println("x " + at + position + " " + e.getClass().getSimpleName());
                    consumer.seek(tp, position + 1);
                }
            }
            if (consumer.position(tp) < end) System.out.println("x " + at + consumer.position(tp) + " stuck");
        }
    }

    static void elect(String[] w) throws Exception {
        ElectionType type = ElectionType.valueOf(w[1].toUpperCase());
        // All that it makes sense for, as kafka-leader-election.sh --all-topic-partitions asks.
        admin.electLeaders(type, null).partitions().get(PATIENCE, TimeUnit.SECONDS).forEach((tp, error) ->
            System.out.println("e " + tp.topic() + " " + tp.partition() + " " + error.map(e -> e.getClass().getSimpleName()).orElse("elected")));
    }

    static void leaders() throws Exception {
        var names = admin.listTopics(new ListTopicsOptions().listInternal(true)).names().get(PATIENCE, TimeUnit.SECONDS);
        admin.describeTopics(names).allTopicNames().get(PATIENCE, TimeUnit.SECONDS).values().forEach(topic ->
            topic.partitions().forEach(each -> System.out.println("l " + topic.name() + " " + each.partition() + " "
                + (each.leader() == null || each.leader().isEmpty() ? -1 : each.leader().id()) + " "
                + each.isr().stream().map(node -> String.valueOf(node.id())).collect(java.util.stream.Collectors.joining(",")))));
    }

    static void dirs(String[] w) throws Exception {
        int broker = Integer.parseInt(w[1]);
        admin.describeLogDirs(List.of(broker)).allDescriptions().get(PATIENCE, TimeUnit.SECONDS).get(broker).forEach((path, told) ->
            System.out.println("d " + broker + " " + path + " " + (told.error() == null ? "ok" : told.error().getClass().getSimpleName())));
    }

    static void group(String[] w) throws Exception {
        admin.listConsumerGroupOffsets(w[1]).partitionsToOffsetAndMetadata().get(PATIENCE, TimeUnit.SECONDS).forEach((tp, at) -> {
            if (at != null) System.out.println("g " + w[1] + " " + tp.topic() + " " + tp.partition() + " " + at.offset());
        });
    }

    static void run(String[] w) throws Exception {
        switch (w[0]) {
            case "create": create(w); break;
            case "delete": admin.deleteTopics(List.of(w[1])).all().get(); break;
            case "send": case "keyed":
                try (KafkaProducer<String, String> producer = producer("compression.type", w[4], "acks", w[5], "enable.idempotence", w[5].equals("all") ? "true" : "false")) {
                    send(producer, w, true);
                }
                break;
            case "commit": case "abort": case "open": transaction(w); break;
            case "offset": offset(w); break;
            case "share": share(w); break;
            case "move":
                admin.alterReplicaLogDirs(Map.of(new TopicPartitionReplica(w[1], Integer.parseInt(w[2]), Integer.parseInt(w[3])), w[4])).all().get();
                break;
            case "slow":
                List<AlterConfigOp> rates = new ArrayList<>();
                for (String name : List.of("replica.alter.log.dirs.io.max.bytes.per.second",
                    "leader.replication.throttled.rate", "follower.replication.throttled.rate"))
                    rates.add(new AlterConfigOp(new ConfigEntry(name, "100"), AlterConfigOp.OpType.SET));
                admin.incrementalAlterConfigs(Map.of(new ConfigResource(ConfigResource.Type.BROKER, w[1]), rates)).all().get();
                break;
            case "configure":
                ConfigResource resource = new ConfigResource(ConfigResource.Type.TOPIC, w[1]);
                AlterConfigOp op = new AlterConfigOp(new ConfigEntry(w[2].split("=")[0], w[2].split("=")[1]), AlterConfigOp.OpType.SET);
                admin.incrementalAlterConfigs(Map.of(resource, List.of(op))).all().get();
                break;
            case "acl":
                admin.createAcls(List.of(new AclBinding(
                    new ResourcePattern(ResourceType.TOPIC, w[2], PatternType.LITERAL),
                    new AccessControlEntry("User:" + w[1], "*", AclOperation.READ, AclPermissionType.ALLOW)))).all().get();
                break;
            case "scram":
                admin.alterUserScramCredentials(List.of(new UserScramCredentialUpsertion(
                    w[1], new ScramCredentialInfo(ScramMechanism.SCRAM_SHA_512, 4096), w[2]))).all().get();
                break;
            case "quota":
                admin.alterClientQuotas(List.of(new ClientQuotaAlteration(
                    new ClientQuotaEntity(Map.of(ClientQuotaEntity.USER, w[1])),
                    List.of(new ClientQuotaAlteration.Op("producer_byte_rate", Double.valueOf(w[2])))))).all().get();
                break;
            case "trim":
                TopicPartition tp = new TopicPartition(w[1], Integer.parseInt(w[2]));
                admin.deleteRecords(Map.of(tp, RecordsToDelete.beforeOffset(Long.parseLong(w[3])))).all().get();
                break;
            case "reassign":
                List<Integer> ids = new ArrayList<>();
                for (String id : w[3].split(",")) ids.add(Integer.parseInt(id));
                admin.alterPartitionReassignments(Map.of(new TopicPartition(w[1], Integer.parseInt(w[2])),
                    java.util.Optional.of(new NewPartitionReassignment(ids)))).all().get();
                break;
            case "elr":
                short level = Short.parseShort(w[1]);
                FeatureUpdate.UpgradeType how = level == 0 ? FeatureUpdate.UpgradeType.SAFE_DOWNGRADE : FeatureUpdate.UpgradeType.UPGRADE;
                admin.updateFeatures(Map.of("eligible.leader.replicas.version", new FeatureUpdate(level, how)), new UpdateFeaturesOptions()).all().get();
                break;
            case "grow": admin.createPartitions(Map.of(w[1], NewPartitions.increaseTo(Integer.parseInt(w[2])))).all().get(); break;
            case "elect": elect(w); break;
            case "read": read(w); break;
            case "leaders": leaders(); break;
            case "dirs": dirs(w); break;
            case "group": group(w); break;
            default: throw new IllegalArgumentException(w[0]);
        }
    }

    public static void main(String[] args) throws Exception {
        bootstrap = args[0];
        admin = Admin.create(settings());
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = in.readLine()) != null; System.out.println(".")) {
            try {
                run(line.trim().split(" "));
            } catch (Exception e) {
                Throwable cause = e.getCause() == null ? e : e.getCause();
                System.out.println("! " + line + ": " + cause.getClass().getSimpleName() + " " + String.valueOf(cause.getMessage()).replace("\n", " "));
            }
        }
        System.exit(0); // an open transaction must not be aborted by an orderly end
    }
}
