// Reads logs as the release on the class path does (0.11 to 4.3). A case is the path of a `.log`. Its answer is a line: for each batch
// "POSITION:SIZE:VALID:READ" (whether ensureValid takes it; whether a consumer can iterate all of its records), then "=" at an end without a word, or "!".
import java.io.BufferedReader;
import java.io.Closeable;
import java.io.File;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.util.Iterator;

public class ReadLog {
    private static final Class<?> FILE = record("FileRecords"), MEMORY = record("MemoryRecords");
    private static final Class<?> BATCH = record("RecordBatch"), RECORD = record("Record");

    public static void main(String[] args) throws Exception {
        Class<?> supplier = supplier();
        Object fresh = supplier.getField("NO_CACHING").get(null);
        BufferedReader cases = new BufferedReader(new InputStreamReader(System.in));
        PrintStream answers = new PrintStream(System.out, false);
        for (String line; (line = cases.readLine()) != null; ) {
            File file = new File(line);
            byte[] bytes = Files.readAllBytes(file.toPath());
            StringBuilder answer = new StringBuilder();
            Object log = FILE.getMethod("open", File.class, boolean.class).invoke(null, file, false);
            int position = 0;
            try {
                for (Object batch : (Iterable<?>) call(FILE, log, "batches")) {
                    int size = (Integer) call(BATCH, batch, "sizeInBytes");
                    ByteBuffer part = ByteBuffer.wrap(bytes, position, size).slice();
                    answer.append(position + ":" + size + ":" + valid(batch) + ":" + read(part, supplier, fresh) + " ");
                    position += size;
                }
                answer.append("=");
            } catch (RuntimeException e) {
                answer.append("!");
            }
            ((Closeable) log).close();
            answers.println(answer);
        }
        answers.flush();
    }

    private static boolean valid(Object batch) throws Exception {
        try {
            call(BATCH, batch, "ensureValid");
            return true;
        } catch (InvocationTargetException e) {
            return false;
        }
    }

    /** Reads as a consumer does: batches of memory, their records one by one. Before 3.4 headers without number take all memory. */
    private static boolean read(ByteBuffer part, Class<?> supplier, Object fresh) throws Exception {
        try {
            Object records = MEMORY.getMethod("readableRecords", ByteBuffer.class).invoke(null, part);
            for (Object batch : (Iterable<?>) call(MEMORY, records, "batches")) {
                Iterator<?> each = (Iterator<?>) BATCH.getMethod("streamingIterator", supplier).invoke(batch, fresh);
                while (each.hasNext()) {
                    Object record = each.next();
                    for (String name : new String[] {"ensureValid", "offset", "timestamp", "key", "value", "headers"})
                        call(RECORD, record, name);
                }
            }
            return true;
        } catch (InvocationTargetException | RuntimeException | OutOfMemoryError e) {
            return false;
        }
    }

    private static Object call(Class<?> type, Object target, String name) throws Exception {
        return type.getMethod(name).invoke(target);
    }

    private static Class<?> record(String name) {
        try {
            return Class.forName("org.apache.kafka.common.record." + name);
        } catch (ClassNotFoundException e) {
            return moved("org.apache.kafka.common.record.internal." + name);
        }
    }

    private static Class<?> supplier() {
        try {
            return Class.forName("org.apache.kafka.common.utils.BufferSupplier");
        } catch (ClassNotFoundException e) {
            return moved("org.apache.kafka.common.record.BufferSupplier");
        }
    }

    private static Class<?> moved(String name) {
        try {
            return Class.forName(name);
        } catch (ClassNotFoundException e) {
            throw new IllegalStateException(e);
        }
    }
}
