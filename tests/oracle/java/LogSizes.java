// Opens files of the sizes that standard input names as segments are opened, and prints how many bytes each has then, or
// the exception. The argument is a folder; the files are sparse.
import java.io.BufferedReader;
import java.io.File;
import java.io.InputStreamReader;
import java.io.RandomAccessFile;
import java.lang.reflect.InvocationTargetException;

public class LogSizes {
    static Class<?> records() throws ClassNotFoundException {
        try {
            return Class.forName("org.apache.kafka.common.record.FileRecords");
        } catch (ClassNotFoundException moved) {
            return Class.forName("org.apache.kafka.common.record.internal.FileRecords");
        }
    }

    public static void main(String[] args) throws Exception {
        Class<?> records = records();
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            File file = new File(args[0], line + ".log");
            try (RandomAccessFile made = new RandomAccessFile(file, "rw")) {
                made.setLength(Long.parseLong(line));
            }
            try (AutoCloseable opened = (AutoCloseable) records
                    .getMethod("open", File.class, boolean.class, int.class, boolean.class)
                    .invoke(null, file, true, 0, false)) {
                System.out.println(records.getMethod("sizeInBytes").invoke(opened));
            } catch (InvocationTargetException failure) {
                System.out.println(failure.getCause().getClass().getSimpleName());
            }
            file.delete();
        }
    }
}
