// Says how far the main classes of a release get with the words of a command: an answer for each line.
// A line: the main class and its words, with tabs between them. The addresses in them are none, so a tool whose words
// are right fails at the address. The answer is all that it prints, and what it throws, on one line.
import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.util.Arrays;
import org.apache.kafka.common.utils.Exit;

public class Commands {
    public static void main(String[] args) throws Exception {
        PrintStream answers = System.out;
        ByteArrayOutputStream printed = new ByteArrayOutputStream();
        PrintStream stream = new PrintStream(printed, true);
        System.setOut(stream); // once: Scala's Console keeps the first one
        System.setErr(stream);
        Exit.setExitProcedure((status, message) -> { throw new Ended(message); });
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = in.readLine()) != null; ) {
            run(line.split("\t"), stream);
            answers.println(printed.toString().replaceAll("\\s+", " "));
            printed.reset();
        }
        answers.flush();
        Runtime.getRuntime().halt(0); // a tool may have left a thread
    }

    private static void run(String[] words, PrintStream stream) throws Exception {
        try {
            Class.forName(words[0]).getMethod("main", String[].class)
                .invoke(null, (Object) Arrays.copyOfRange(words, 1, words.length));
        } catch (InvocationTargetException error) {
            for (Throwable at = error.getCause(); at != null; at = at.getCause()) stream.println(at);
        }
    }

    /** What ends a tool instead of the JVM. */
    private static class Ended extends RuntimeException {
        Ended(String message) {
            super(message);
        }
    }
}
