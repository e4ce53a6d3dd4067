// Makes brokers write records of every kind for themselves, with the client of a release from 4.2 on. Argument: the
// bootstrap servers. What stands then in the internal topics: see `coordinators` in histories.py.
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.function.BooleanSupplier;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.NewPartitions;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.ScramCredentialInfo;
import org.apache.kafka.clients.admin.ScramMechanism;
import org.apache.kafka.clients.admin.UserScramCredentialDeletion;
import org.apache.kafka.clients.admin.UserScramCredentialUpsertion;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.KafkaShareConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.TopicPartitionReplica;
import org.apache.kafka.common.acl.AccessControlEntry;
import org.apache.kafka.common.acl.AclBinding;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.acl.AclPermissionType;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.quota.ClientQuotaAlteration;
import org.apache.kafka.common.quota.ClientQuotaEntity;
import org.apache.kafka.common.resource.PatternType;
import org.apache.kafka.common.resource.ResourcePattern;
import org.apache.kafka.common.resource.ResourceType;

public class Coordinators {
    static final String TOPIC = "orders";
    static final TopicPartition PARTITION = new TopicPartition(TOPIC, 0);
    static String bootstrap;

    public static void main(String[] args) throws Exception {
        bootstrap = args[0];
        try (Admin admin = Admin.create(client())) {
            metadata(admin);
            send();
            groups(admin);
            transactions();
            shares(admin);
        }
        System.exit(0); // an open transaction must not be aborted by an orderly end
    }

    static Properties client(String... more) {
        Properties p = new Properties();
        p.put("bootstrap.servers", bootstrap);
        for (String side : new String[] {"key", "value"}) {
            p.put(side + ".serializer", "org.apache.kafka.common.serialization.StringSerializer");
            p.put(side + ".deserializer", "org.apache.kafka.common.serialization.StringDeserializer");
        }
        for (int n = 0; n < more.length; n += 2) p.put(more[n], more[n + 1]);
        return p;
    }

    static void metadata(Admin admin) throws Exception {
        NewTopic orders = new NewTopic(TOPIC, 1, (short) 1).configs(Map.of("retention.ms", "86400000"));
        admin.createTopics(List.of(orders, new NewTopic("gone", 1, (short) 1))).all().get();
        admin.createPartitions(Map.of(TOPIC, NewPartitions.increaseTo(2))).all().get();
        admin.deleteTopics(List.of("gone")).all().get();
        ConfigResource topic = new ConfigResource(ConfigResource.Type.TOPIC, TOPIC);
        ConfigEntry entry = new ConfigEntry("retention.ms", "");
        admin.incrementalAlterConfigs(Map.of(topic, List.of(new AlterConfigOp(entry, AlterConfigOp.OpType.DELETE)))).all().get();
        Map<String, String> user = new HashMap<>();
        user.put(ClientQuotaEntity.USER, "alice");
        user.put(ClientQuotaEntity.CLIENT_ID, null);
        ClientQuotaEntity entity = new ClientQuotaEntity(user);
        for (Double rate : new Double[] {1.5e7, 0.25, null})
            admin.alterClientQuotas(List.of(new ClientQuotaAlteration(entity,
                List.of(new ClientQuotaAlteration.Op("request_percentage", rate))))).all().get();
        ScramCredentialInfo scram = new ScramCredentialInfo(ScramMechanism.SCRAM_SHA_256, 4096);
        byte[] salt = {1, 2, 3, 4}, password = {112, 119};
        admin.alterUserScramCredentials(List.of(new UserScramCredentialUpsertion("alice", scram, password, salt))).all().get();
        admin.alterUserScramCredentials(List.of(new UserScramCredentialDeletion("alice", ScramMechanism.SCRAM_SHA_256))).all().get();
        AclBinding acl = new AclBinding(new ResourcePattern(ResourceType.TOPIC, "secret", PatternType.PREFIXED),
            new AccessControlEntry("User:alice", "*", AclOperation.READ, AclPermissionType.ALLOW));
        admin.createAcls(List.of(acl)).all().get();
        admin.deleteAcls(List.of(acl.toFilter())).all().get();
        String other = admin.describeLogDirs(List.of(1)).allDescriptions().get().get(1).entrySet().stream()
            .filter(dir -> !dir.getValue().replicaInfos().containsKey(PARTITION)).findFirst().get().getKey();
        admin.alterReplicaLogDirs(Map.of(new TopicPartitionReplica(TOPIC, 0, 1), other)).all().get();
        waitFor(() -> moved(admin, other));
    }

    static boolean moved(Admin admin, String directory) {
        try {
            return admin.describeLogDirs(List.of(1)).allDescriptions().get().get(1).get(directory)
                .replicaInfos().entrySet().stream().anyMatch(e -> e.getKey().equals(PARTITION) && !e.getValue().isFuture());
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    static void send() throws Exception {
        try (KafkaProducer<String, String> producer = new KafkaProducer<>(client())) {
            for (int n = 0; n < 20; n++) producer.send(new ProducerRecord<>(TOPIC, 0, "k" + n, "value " + n));
        }
    }

    static void groups(Admin admin) throws Exception {
        try (KafkaConsumer<String, String> one = member("classic", "group.instance.id", "stay", "client.rack", "r1");
                KafkaConsumer<String, String> two = member("classic", "client.id", "second")) {
            waitFor(() -> {
                poll(one);
                poll(two);
                return one.assignment().size() == 1 && two.assignment().size() == 1;
            });
            one.commitSync(Map.of(PARTITION, new OffsetAndMetadata(7, "caf\u00e9 \"seven\"")));
            two.commitSync(Map.of(PARTITION, new OffsetAndMetadata(9, java.util.Optional.of(0), "")));
        }
        try (KafkaConsumer<String, String> one = member("modern", "group.protocol", "consumer")) {
            waitFor(() -> poll(one) && one.assignment().size() == 2);
            one.commitSync(Map.of(PARTITION, new OffsetAndMetadata(11)));
        }
        KafkaConsumer<String, String> regular = new KafkaConsumer<>(client("group.id", "regular", "group.protocol", "consumer"));
        regular.subscribe(new org.apache.kafka.clients.consumer.SubscriptionPattern("ord.*"));
        waitFor(() -> poll(regular) && regular.assignment().size() == 2);
        regular.close();
        admin.deleteConsumerGroupOffsets("modern", Set.of(PARTITION)).all().get();
        try (KafkaConsumer<String, String> one = new KafkaConsumer<>(client("group.id", "deleted"))) {
            one.assign(List.of(PARTITION));
            one.commitSync(Map.of(PARTITION, new OffsetAndMetadata(3)));
        }
        admin.deleteConsumerGroups(List.of("deleted")).all().get();
    }

    static KafkaConsumer<String, String> member(String group, String... more) {
        Properties properties = client(more);
        properties.put("group.id", group);
        properties.put("auto.offset.reset", "earliest");
        properties.put("enable.auto.commit", "false");
        KafkaConsumer<String, String> found = new KafkaConsumer<>(properties);
        found.subscribe(List.of(TOPIC));
        return found;
    }

    static boolean poll(KafkaConsumer<String, String> consumer) {
        consumer.poll(Duration.ofMillis(100));
        return true;
    }

    static void transactions() throws Exception {
        for (String how : new String[] {"commit", "abort", "open"}) {
            KafkaProducer<String, String> producer =
                new KafkaProducer<>(client("transactional.id", how, "transaction.timeout.ms", "900000"));
            producer.initTransactions();
            producer.beginTransaction();
            producer.send(new ProducerRecord<>(TOPIC, 0, how, "value")).get();
            producer.send(new ProducerRecord<>(TOPIC, 1, how, "value")).get();
            if (!how.equals("abort"))
                try (KafkaConsumer<String, String> consumer = new KafkaConsumer<>(client("group.id", "in-" + how))) {
                    producer.sendOffsetsToTransaction(Map.of(PARTITION, new OffsetAndMetadata(5)), consumer.groupMetadata());
                }
            if (how.equals("commit")) producer.commitTransaction();
            if (how.equals("abort")) producer.abortTransaction();
        }
    }

    static void shares(Admin admin) throws Exception {
        Properties properties = client("group.id", "share");
        ConfigResource group = new ConfigResource(ConfigResource.Type.GROUP, "share");
        ConfigEntry entry = new ConfigEntry("share.auto.offset.reset", "earliest");
        admin.incrementalAlterConfigs(Map.of(group, List.of(new AlterConfigOp(entry, AlterConfigOp.OpType.SET)))).all().get();
        try (KafkaShareConsumer<String, String> consumer = new KafkaShareConsumer<>(properties)) {
            consumer.subscribe(List.of(TOPIC));
            waitFor(() -> !consumer.poll(Duration.ofMillis(200)).isEmpty());
            consumer.commitSync();
        }
    }

    static void waitFor(BooleanSupplier condition) throws Exception {
        for (int left = 300; !condition.getAsBoolean(); left--) {
            if (left == 0) throw new IllegalStateException("waited in vain");
            Thread.sleep(50);
        }
    }
}
