// Runs kafka-dump-log of the release on the class path, with the options behind the first argument. A case is a line with the path of a file, its answer a line
// with the standard output in base64 and "=", or "!" and the class of the exception that ended the tool.
import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.Base64;

public class Dump {
    public static void main(String[] args) throws Exception {
        PrintStream answers = new PrintStream(System.out, false);
        ByteArrayOutputStream written = new ByteArrayOutputStream();
        PrintStream out = new PrintStream(written, false, "UTF-8");
        System.setOut(out); // before Scala's Console keeps the stream
        System.setErr(new PrintStream(OutputStream.nullOutputStream()));
        Method tool = tool().getMethod("main", String[].class);
        BufferedReader cases = new BufferedReader(new InputStreamReader(System.in));
        for (String file; (file = cases.readLine()) != null; ) {
            written.reset();
            String end = "=";
            try {
                String[] options = Arrays.copyOfRange(args, 1, args.length + 2);
                options[args.length - 1] = "--files";
                options[args.length] = file;
                tool.invoke(null, (Object) options);
            } catch (InvocationTargetException e) {
                end = "!" + e.getCause().getClass().getSimpleName();
            }
            out.flush();
            answers.println(Base64.getEncoder().encodeToString(written.toByteArray()) + " " + end);
        }
        answers.flush();
    }

    private static Class<?> tool() throws ClassNotFoundException {
        try {
            return Class.forName("org.apache.kafka.tools.DumpLogSegments");
        } catch (ClassNotFoundException e) {
            return Class.forName("kafka.tools.DumpLogSegments");
        }
    }
}
