// Asks the readers of one kind of small file, or of directory names, of the release on the class path. Arguments: a
// folder to work in, and offsets, epochs, partition.metadata, meta.properties, quorum-state, directory, transactions or producers. A case is a line with the
// bytes of the file or the name in base64, its answer a line with what the reader returns, or "!" and the simple class
// names of the exception and of its causes. Text in answers is base64 of UTF-16.
// By reflection: packages and constructors change from release to release.
import java.io.BufferedReader;
import java.io.File;
import java.io.FileInputStream;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.Arrays;
import java.util.Base64;
import java.util.Map;
import java.util.Properties;
import java.util.StringJoiner;

public class Readers {
    private static final String CHECKPOINTS = "org.apache.kafka.storage.internals.checkpoint.";
    private static final String LOG = "org.apache.kafka.storage.internals.log.";

    public static void main(String[] args) throws Exception {
        File file = new File(args[0], "file");
        BufferedReader cases = new BufferedReader(new InputStreamReader(System.in));
        PrintStream answers = new PrintStream(System.out, false);
        for (String line; (line = cases.readLine()) != null; ) {
            answers.println(answer(args[1], file, Base64.getDecoder().decode(line)));
        }
        answers.flush();
    }

    private static String answer(String kind, File file, byte[] bytes) throws Exception {
        Files.write(file.toPath(), bytes);
        try {
            switch (kind) {
                case "offsets": return offsets(read(file, CHECKPOINTS + "OffsetCheckpointFile",
                    "kafka.server.checkpoints.OffsetCheckpointFile", "kafka.server.OffsetCheckpoint"));
                case "epochs": return read(file, CHECKPOINTS + "LeaderEpochCheckpointFile",
                    "kafka.server.checkpoints.LeaderEpochCheckpointFile").toString();
                case "partition.metadata":
                    Object found =
                        read(file, CHECKPOINTS + "PartitionMetadataFile", "kafka.server.PartitionMetadataFile");
                    return call(found, "version") + " " + call(found, "topicId");
                case "directory":
                    Object parsed = parse(new File(new String(bytes, StandardCharsets.UTF_8)));
                    return base64((String) call(parsed, "topic")) + " " + call(parsed, "partition");
                case "meta.properties": return metaProperties(file);
                case "quorum-state":
                    Class<?> store = firstOf("org.apache.kafka.raft.FileQuorumStateStore",
                        "org.apache.kafka.raft.FileBasedStateStore");
                    return String.valueOf(call(store.getConstructors()[0].newInstance(file), "readElectionState"));
                case "transactions":
                    Object index = firstOf(LOG + "TransactionIndex", "kafka.log.TransactionIndex")
                        .getConstructor(long.class, File.class).newInstance(0L, file);
                    return rows(call(index, "allAbortedTxns"), "producerId", "firstOffset", "lastOffset", "lastStableOffset");
                case "producers":
                    return rows(firstOf(LOG + "ProducerStateManager", "kafka.log.ProducerStateManager")
                        .getMethod("readSnapshot", File.class).invoke(null, file), "producerId", "producerEpoch", "coordinatorEpoch");
                default: throw new IllegalArgumentException(kind);
            }
        } catch (InvocationTargetException e) {
            StringJoiner chain = new StringJoiner(" ", "!", "");
            for (Throwable cause = e.getCause(); cause != null; cause = cause.getCause())
                chain.add(cause.getClass().getSimpleName());
            return chain.toString();
        }
    }

    private static String offsets(Object map) throws Exception {
        StringJoiner entries = new StringJoiner(",");
        if (map instanceof Map<?, ?> java) {
            for (var entry : java.entrySet()) entries.add(offset(entry.getKey(), entry.getValue()));
        } else {
            for (var iterator = ((scala.collection.Map<?, ?>) map).iterator(); iterator.hasNext(); ) {
                scala.Tuple2<?, ?> entry = iterator.next();
                entries.add(offset(entry._1(), entry._2()));
            }
        }
        return entries.toString();
    }

    private static String rows(Object entries, String... fields) throws Exception {
        StringJoiner rows = new StringJoiner(",");
        if (entries instanceof scala.collection.Iterable<?> scala) {
            for (var iterator = scala.iterator(); iterator.hasNext(); ) rows.add(row(iterator.next(), fields));
        } else {
            for (Object entry : (Iterable<?>) entries) rows.add(row(entry, fields));
        }
        return rows.toString();
    }

    private static String row(Object entry, String... fields) throws Exception {
        StringJoiner row = new StringJoiner(" ");
        for (String field : fields) row.add(String.valueOf(call(entry, field)));
        return row.toString();
    }

    private static String offset(Object topicPartition, Object offset) throws Exception {
        String topic = (String) call(topicPartition, "topic");
        return base64(topic) + " " + call(topicPartition, "partition") + " " + offset;
    }

    private static String base64(String text) {
        ByteBuffer bytes = ByteBuffer.allocate(2 * text.length());
        bytes.asCharBuffer().put(text);
        return Base64.getEncoder().encodeToString(bytes.array());
    }

    private static Object parse(File directory) throws Exception {
        Class<?> log = firstOf(
            "org.apache.kafka.storage.internals.log.LocalLog", "kafka.log.LocalLog$", "kafka.log.Log$");
        Object target = log.getName().endsWith("$") ? log.getField("MODULE$").get(null) : null;
        return log.getMethod("parseTopicPartitionName", File.class).invoke(target, directory);
    }

    /** Version and id by MetaProperties (3.7+) or BrokerMetadata (to 2.7), then every property of the file. */
    private static String metaProperties(File file) throws Exception {
        Properties properties;
        StringJoiner answer = new StringJoiner(" ");
        try {
            Class<?> builder = Class.forName("org.apache.kafka.metadata.properties.MetaProperties$Builder");
            Class<?> files = Class.forName("org.apache.kafka.metadata.properties.PropertiesUtils");
            properties = (Properties) files.getMethod("readPropertiesFile", String.class).invoke(null, file.getPath());
            Object found = call(builder.getConstructor(Properties.class).newInstance(properties), "build");
            answer.add(call(call(found, "version"), "number").toString()).add(call(found, "nodeId").toString());
        } catch (ClassNotFoundException e) {
            Object found = call(read(file, "kafka.server.BrokerMetadataCheckpoint"), "get");
            properties = new Properties();
            try (InputStream stream = new FileInputStream(file)) {
                properties.load(stream);
            }
            if (!(found instanceof Properties)) answer.add("0").add(call(found, "brokerId").toString());
        }
        for (String key : properties.stringPropertyNames())
            answer.add(base64(key) + ":" + base64(properties.getProperty(key)));
        return answer.toString();
    }

    /** Calls read() of the first of the classes that exists, constructed with the file and a failure channel. */
    private static Object read(File file, String... classes) throws Exception {
        Constructor<?> constructor = firstOf(classes).getConstructors()[0];
        Class<?>[] types = constructor.getParameterTypes();
        Object reader = types.length == 1 ? constructor.newInstance(file)
            : constructor.newInstance(file, types[1].getConstructor(int.class).newInstance(1));
        return call(reader, "read");
    }

    private static Class<?> firstOf(String... names) throws ClassNotFoundException {
        for (String name : names) {
            try {
                return Class.forName(name);
            } catch (ClassNotFoundException e) {
                continue;
            }
        }
        throw new ClassNotFoundException(Arrays.toString(names));
    }

    private static Object call(Object target, String name) throws Exception {
        return target.getClass().getMethod(name).invoke(target);
    }
}
