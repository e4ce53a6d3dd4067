// Each line of standard input is the code of an error; each answer the class of its exception and its default text,
// empty if a release has no such error.
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.HashMap;
import java.util.Map;
import org.apache.kafka.common.protocol.Errors;

public class ErrorTexts {
    public static void main(String[] args) throws Exception {
        Map<Short, Errors> errors = new HashMap<>();
        for (Errors error : Errors.values()) errors.put(error.code(), error);
        BufferedReader codes = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = codes.readLine()) != null; ) {
            Errors error = errors.get(Short.valueOf(line));
            Throwable thrown = error == null ? null : error.exception();
            System.out.println(thrown == null ? "" : thrown.toString().replace('\n', ' '));
        }
    }
}
