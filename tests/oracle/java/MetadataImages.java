// Replays copies of `__cluster_metadata-0` as a node does: the newest snapshot that serves, then the log, batch by batch
// (MetadataDelta, MetadataBatchLoader; 3.9 and later). Each line is the path of such a directory and the offset of the
// last record that counts; the answer is a line of JSON with the image.
// By reflection: some arguments change from release to release.
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.File;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.utils.BufferSupplier;
import org.apache.kafka.common.utils.LogContext;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.image.MetadataDelta;
import org.apache.kafka.image.MetadataImage;
import org.apache.kafka.image.MetadataProvenance;
import org.apache.kafka.image.loader.MetadataBatchLoader;
import org.apache.kafka.metadata.BrokerRegistration;
import org.apache.kafka.metadata.MetadataRecordSerde;
import org.apache.kafka.metadata.PartitionRegistration;
import org.apache.kafka.raft.Batch;
import org.apache.kafka.raft.LeaderAndEpoch;
import org.apache.kafka.raft.internals.RecordsIterator;
import org.apache.kafka.server.common.ApiMessageAndVersion;

public class MetadataImages {
    private static final LeaderAndEpoch NOBODY = LeaderAndEpoch.UNKNOWN;
    private static MetadataImage image;

    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, "UTF-8"));
        PrintStream out = new PrintStream(System.out, true, "UTF-8");
        for (String line; (line = in.readLine()) != null; ) {
            int space = line.lastIndexOf(' ');
            replay(new File(line.substring(0, space)), Long.parseLong(line.substring(space + 1)));
            out.println(new ObjectMapper().writeValueAsString(told()));
        }
    }

    private static void replay(File dir, long last) throws Exception {
        image = MetadataImage.EMPTY;
        List<File> files = new ArrayList<>(List.of(dir.listFiles()));
        files.sort(Comparator.comparing(File::getName));
        File snapshot = null;
        for (File file : files)
            if (file.getName().endsWith(".checkpoint") && offset(file) > 0 && offset(file) <= last + 1) snapshot = file;
        if (snapshot != null) {
            MetadataDelta delta = new MetadataDelta.Builder().setImage(image).build();
            for (Batch<ApiMessageAndVersion> batch : batches(snapshot, 0, Long.MAX_VALUE))
                batch.records().forEach(record -> delta.replay(record.message()));
            delta.finishSnapshot();
            image = delta.apply(given(MetadataProvenance.class, offset(snapshot) - 1));
        }
        MetadataBatchLoader loader = given(MetadataBatchLoader.class, 0L);
        loader.resetToImage(image);
        Method flush = Arrays.stream(MetadataBatchLoader.class.getMethods())
            .filter(method -> method.getName().equals("maybeFlushBatches")).findFirst().orElseThrow();
        Object[] how = flush.getParameterCount() == 1 ? new Object[] {NOBODY} : new Object[] {NOBODY, true};
        for (File file : files) {
            if (!file.getName().endsWith(".log")) continue;
            for (Batch<ApiMessageAndVersion> batch : batches(file, snapshot == null ? 0 : offset(snapshot), last)) {
                loader.loadBatch(batch, NOBODY);
                flush.invoke(loader, how);
            }
        }
    }

    private static long offset(File file) {
        return Long.parseLong(file.getName().substring(0, 20));
    }

    private static List<Batch<ApiMessageAndVersion>> batches(File file, long first, long last) throws Exception {
        List<Batch<ApiMessageAndVersion>> batches = new ArrayList<>();
        Class<?> records = classOf("org.apache.kafka.common.record.internal.FileRecords",
            "org.apache.kafka.common.record.FileRecords");
        try (AutoCloseable log =
                (AutoCloseable) records.getMethod("open", File.class, boolean.class).invoke(null, file, false)) {
            Constructor<?> make = RecordsIterator.class.getConstructors()[0];
            Iterator<?> read = (Iterator<?>) make.newInstance(Arrays.stream(make.getParameterTypes())
                .map(type -> type.isInstance(log) ? log
                    : type == int.class ? (Object) (8 << 20)
                    : type == boolean.class ? (Object) true
                    : type == LogContext.class ? new LogContext()
                    : type == BufferSupplier.class ? BufferSupplier.NO_CACHING
                    : new MetadataRecordSerde()).toArray());
            while (read.hasNext()) {
                Batch<?> batch = (Batch<?>) read.next();
                List<ApiMessageAndVersion> wanted = new ArrayList<>();
                for (int index = 0; index < batch.records().size(); index++)
                    if (first <= batch.baseOffset() + index && batch.baseOffset() + index <= last)
                        wanted.add((ApiMessageAndVersion) batch.records().get(index));
                if (!wanted.isEmpty())
                    batches.add(Batch.data(
                        batch.baseOffset(), batch.epoch(), batch.appendTimestamp(), batch.sizeInBytes(), wanted));
            }
        }
        return batches;
    }

    private static Class<?> classOf(String... names) throws ClassNotFoundException {
        try {
            return Class.forName(names[0]);
        } catch (ClassNotFoundException e) {
            return Class.forName(names[1]);
        }
    }

    /** Makes an object of its longest constructor; the offset is for a provenance, true and the rest for both. */
    private static <T> T given(Class<T> type, Long offset) throws Exception {
        Constructor<?> make = type.getConstructors()[0];
        return type.cast(make.newInstance(Arrays.stream(make.getParameterTypes())
            .map(each -> each == long.class ? offset
                : each == int.class ? (Object) 0
                : each == boolean.class ? true
                : each == LogContext.class ? new LogContext()
                : each == Time.class ? Time.SYSTEM
                : Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {each}, (proxy, method, args) -> {
                    if (method.getName().equals("handleFault"))
                        throw new IllegalStateException((String) args[0], args.length > 1 ? (Throwable) args[1] : null);
                    if (method.getName().equals("update")) image = (MetadataImage) args[1];
                    return method.getReturnType() == boolean.class ? true : null;
                })).toArray()));
    }

    private static Map<String, Object> told() throws Exception {
        Map<String, Object> told = new TreeMap<>(), partitions = new TreeMap<>(), brokers = new TreeMap<>(),
            features = new TreeMap<>(), configs = new TreeMap<>();
        image.topics().topicsById().forEach((id, topic) -> topic.partitions().forEach((number, partition) ->
            partitions.put(topic.name() + "-" + number, partition(id, partition))));
        for (BrokerRegistration broker : image.cluster().brokers().values())
            brokers.put(String.valueOf(broker.id()), broker(broker));
        features.putAll(image.features().finalizedVersions());
        Object version = called(image.features(), "metadataVersion").orElse(null);
        if (version instanceof Optional<?> optional) version = optional.orElse(null);
        if (version != null && !image.features().isEmpty()) features.put("metadata.version", called(version, "featureLevel").orElseThrow());
        image.configs().resourceData().forEach((resource, config) -> config.data().forEach((name, value) ->
            configs.put(resource.type().name().toLowerCase() + " " + resource.name() + " " + name, value)));
        List<String> users = new ArrayList<>();
        image.scram().mechanisms().forEach((mechanism, credentials) ->
            credentials.keySet().forEach(user -> users.add(user + " (" + mechanism.mechanismName() + ")")));
        users.sort(null);
        told.put("partitions", partitions);
        told.put("brokers", brokers);
        told.put("controllers", image.cluster().controllers().values().stream()
            .map(each -> each.id() + " " + each.incarnationId()).sorted().toList());
        told.put("features", features);
        told.put("configs", configs);
        told.put("scram_users", users);
        told.put("delegation_tokens", image.delegationTokens().tokens().keySet().stream().sorted().toList());
        told.put("next_producer_id", image.producerIds().nextProducerId());
        return told;
    }

    private static Map<String, Object> partition(Uuid topicId, PartitionRegistration of) {
        Map<String, Object> row = new TreeMap<>();
        row.put("topic_id", topicId.toString());
        row.put("leader", of.leader);
        row.put("leader_epoch", of.leaderEpoch);
        row.put("partition_epoch", of.partitionEpoch);
        row.put("replicas", of.replicas);
        row.put("isr", of.isr);
        row.put("elr", of.elr);
        row.put("last_known_elr", of.lastKnownElr);
        row.put("adding", of.addingReplicas);
        row.put("removing", of.removingReplicas);
        row.put("directories", Arrays.stream(of.directories).map(Uuid::toString).toList());
        row.put("recovering", of.leaderRecoveryState.name().equals("RECOVERING"));
        return row;
    }

    private static Map<String, Object> broker(BrokerRegistration of) throws Exception {
        Map<String, Object> row = new TreeMap<>();
        row.put("epoch", of.epoch());
        row.put("fenced", of.fenced());
        row.put("in_controlled_shutdown", of.inControlledShutdown());
        row.put("log_dirs", of.directories().stream().map(Uuid::toString).toList());
        row.put("cordoned_log_dirs", ((List<?>) called(of, "cordonedDirectories").orElse(List.of())).stream()
            .map(String::valueOf).toList());
        row.put("incarnation_id", of.incarnationId().toString());
        row.put("endpoints", of.listeners().values().stream()
            .map(each -> called(each, "listenerName").orElseThrow() + "://" + each.host() + ":" + each.port())
            .map(each -> each.replaceFirst("^Optional\\[(.*)]:", "$1:")).sorted().toList());
        row.put("rack", of.rack().orElse(null));
        row.put("migrating", called(of, "isMigratingZkBroker").orElse(false));
        return row;
    }

    /** Calls a method that some release may lack. */
    private static Optional<Object> called(Object object, String name) {
        try {
            return Optional.ofNullable(object.getClass().getMethod(name).invoke(object));
        } catch (NoSuchMethodException e) {
            return Optional.empty();
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }
}
