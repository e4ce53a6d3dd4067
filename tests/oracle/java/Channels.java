// Asks the classes that make the channels of a broker whether they take settings. Argument: a folder, which is not used.
// A case is "keys" with NAME=VALUE, "login" with a sasl.jaas.config, or "rules" with ssl.principal.mapping.rules, with
// tabs between them. An answer is "ok" or the first line of the exception; that a file is missing is "ok", too.
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.config.types.Password;
import org.apache.kafka.common.network.ListenerName;
import org.apache.kafka.common.security.JaasContext;
import org.apache.kafka.common.security.ssl.DefaultSslEngineFactory;
import org.apache.kafka.common.security.ssl.SslPrincipalMapper;

public class Channels {
    private static final List<String> SECRETS = List.of("password", "key", "chain", "certificates");

    public static void main(String[] args) throws Exception {
        BufferedReader cases = new BufferedReader(new InputStreamReader(System.in));
        PrintStream answers = System.out;
        System.setOut(System.err);
        for (String line; (line = cases.readLine()) != null; ) {
            answers.println(answer(line.split("\t")));
        }
        answers.flush();
    }

    private static String answer(String[] words) {
        try {
            switch (words[0]) {
                case "keys":
                    new DefaultSslEngineFactory().configure(settings(words));
                    return "ok";
                case "login":
                    JaasContext.loadServerContext(new ListenerName("X"), "PLAIN",
                        Map.of("plain.sasl.jaas.config", new Password(words[1])));
                    return "ok";
                default:
                    SslPrincipalMapper.fromRules(words[1]);
                    return "ok";
            }
        } catch (RuntimeException error) {
            String text = String.valueOf(error.getMessage()).split("\n")[0];
            return text.startsWith("Failed to load ") ? "ok" : text;
        }
    }

    private static Map<String, Object> settings(String[] words) {
        Map<String, Object> settings = new HashMap<>(Map.of("ssl.protocol", "TLS", "ssl.keystore.type", "JKS"));
        settings.put("ssl.truststore.type", "JKS");
        settings.put("ssl.key.password", new Password("p")); // 2.8 wants it for PEM
        settings.put("ssl.cipher.suites", List.of());
        settings.put("ssl.enabled.protocols", List.of("TLSv1.2"));
        settings.put("ssl.keymanager.algorithm", "SunX509");
        settings.put("ssl.trustmanager.algorithm", "PKIX");
        for (int at = 1; at < words.length; at++) {
            String[] pair = words[at].split("=", 2);
            boolean isSecret = SECRETS.contains(pair[0].substring(pair[0].lastIndexOf('.') + 1));
            settings.put(pair[0], isSecret ? new Password(pair[1]) : pair[1]);
        }
        return settings;
    }
}
