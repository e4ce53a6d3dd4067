import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.Map;
import java.util.Optional;
import org.apache.kafka.server.log.remote.storage.LogSegmentData;
import org.apache.kafka.server.log.remote.storage.RemoteLogSegmentMetadata;
import org.apache.kafka.server.log.remote.storage.RemoteStorageException;
import org.apache.kafka.server.log.remote.storage.RemoteStorageManager;

/** LocalTieredStorage of Kafka's test jars; an operation fails while a file FLAGS/OPERATION.TOPIC exists. */
public class FailingStorage implements RemoteStorageManager {
    private static final String STORE = "org.apache.kafka.server.log.remote.storage.LocalTieredStorage";
    private RemoteStorageManager store;
    private Path flags;

    @Override
    public void configure(Map<String, ?> config) {
        try {
            store = (RemoteStorageManager) Class.forName(STORE).getDeclaredConstructor().newInstance();
        } catch (ReflectiveOperationException error) {
            throw new IllegalStateException(error);
        }
        flags = Paths.get((String) config.get("flags"));
        store.configure(config);
    }

    private void check(String operation, RemoteLogSegmentMetadata segment) throws RemoteStorageException {
        String name = operation + "." + segment.remoteLogSegmentId().topicIdPartition().topic();
        if (Files.exists(flags.resolve(name))) {
            throw new RemoteStorageException(name);
        }
    }

    @Override
    public Optional<RemoteLogSegmentMetadata.CustomMetadata> copyLogSegmentData(
            RemoteLogSegmentMetadata segment, LogSegmentData data) throws RemoteStorageException {
        check("copy", segment);
        return store.copyLogSegmentData(segment, data);
    }

    @Override
    public InputStream fetchLogSegment(RemoteLogSegmentMetadata segment, int start) throws RemoteStorageException {
        return store.fetchLogSegment(segment, start);
    }

    @Override
    public InputStream fetchLogSegment(RemoteLogSegmentMetadata segment, int start, int end)
            throws RemoteStorageException {
        return store.fetchLogSegment(segment, start, end);
    }

    @Override
    public InputStream fetchIndex(RemoteLogSegmentMetadata segment, IndexType type) throws RemoteStorageException {
        check("index", segment);
        return store.fetchIndex(segment, type);
    }

    @Override
    public void deleteLogSegmentData(RemoteLogSegmentMetadata segment) throws RemoteStorageException {
        check("delete", segment);
        store.deleteLogSegmentData(segment);
    }

    @Override
    public void close() {
    }
}
