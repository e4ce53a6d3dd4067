// Asks a release for the partition of keys. Each line is the number of partitions a key and a group id in hexadecimal digits,
// and is answered by the partition of a producer with this key and the one of the group.
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.util.HexFormat;
import org.apache.kafka.common.utils.Utils;

public class Partitions {
    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, "UTF-8"));
        PrintStream out = new PrintStream(System.out, false, "UTF-8");
        for (String line; (line = in.readLine()) != null; ) {
            String[] words = line.split(" ");
            int count = Integer.parseInt(words[0]);
            byte[] key = HexFormat.of().parseHex(words[1]);
            String group = new String(HexFormat.of().parseHex(words[2]), "UTF-8");
            out.println(producer(key, count) + " " + Utils.abs(group.hashCode()) % count);
        }
        out.flush();
        System.exit(0);
    }

    private static int producer(byte[] key, int count) throws Exception {
        try {
            return (int) Class.forName("org.apache.kafka.clients.producer.internals.BuiltInPartitioner")
                .getMethod("partitionForKey", byte[].class, int.class).invoke(null, key, count);
        } catch (ClassNotFoundException before33) {
            return Utils.toPositive(Utils.murmur2(key)) % count;
        }
    }
}
