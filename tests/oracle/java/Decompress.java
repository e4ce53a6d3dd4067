// Decompresses as the release on the class path does. A case is a line "<codec name> <magic> <base64>", its answer a
// line with what came out in base64 and "=", or "!" and the class of the exception that ended it.
import java.io.BufferedOutputStream;
import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.ByteBuffer;
import java.util.Base64;

public class Decompress {
    public static void main(String[] args) throws Exception {
        BufferedReader cases = new BufferedReader(new InputStreamReader(System.in));
        PrintStream answers = new PrintStream(new BufferedOutputStream(System.out), false);
        for (String line; (line = cases.readLine()) != null; ) {
            String[] parts = line.split(" ", -1);
            ByteArrayOutputStream out = new ByteArrayOutputStream();
            String end = "=";
            try (InputStream in = open(parts[0], Byte.parseByte(parts[1]), ByteBuffer.wrap(Base64.getDecoder().decode(parts[2])))) {
                byte[] some = new byte[4096];
                for (int empty = 0; empty < 100; ) {
                    int count = in.read(some, 0, some.length);
                    if (count < 0) break;
                    empty = count == 0 ? empty + 1 : 0;
                    out.write(some, 0, count);
                }
            } catch (InvocationTargetException e) {
                end = "!" + e.getCause().getClass().getSimpleName();
            } catch (Throwable e) {
                end = "!" + e.getClass().getSimpleName();
            }
            answers.println(Base64.getEncoder().encodeToString(out.toByteArray()) + " " + end);
        }
        answers.flush();
    }

    private static InputStream open(String codec, byte magic, ByteBuffer data) throws Exception {
        Class<?> supplier;
        try {
            supplier = Class.forName("org.apache.kafka.common.utils.BufferSupplier");
        } catch (ClassNotFoundException e) {
            supplier = Class.forName("org.apache.kafka.common.record.BufferSupplier");
        }
        Class<?>[] types = {ByteBuffer.class, byte.class, supplier};
        Object fresh = supplier.getField("NO_CACHING").get(null);
        Object compression;
        Class<?> declares;
        try {
            declares = Class.forName("org.apache.kafka.common.compress.Compression");
            Object builder = declares.getMethod(codec).invoke(null);
            Method build = builder.getClass().getMethod("build");
            compression = build.invoke(builder);
        } catch (ClassNotFoundException e) {
            declares = Class.forName("org.apache.kafka.common.record.CompressionType");
            compression = declares.getField(codec.toUpperCase()).get(null);
        }
        Method wrap = declares.getMethod("wrapForInput", types);
        wrap.setAccessible(true);
        return (InputStream) wrap.invoke(compression, data, magic, fresh);
    }
}
