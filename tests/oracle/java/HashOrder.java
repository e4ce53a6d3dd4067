// Tells in which order a hash table has longs: each line of standard input is longs in the order in which they are put.
// Arguments: a folder, and the table (java, java-computed, or scala, that of the release's Scala).
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.HashMap;
import java.util.Map;
import java.util.StringJoiner;

public class HashOrder {
    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            Map<Long, Long> java = new HashMap<>();
            scala.collection.mutable.HashMap<Long, Long> scala = new scala.collection.mutable.HashMap<>();
            for (String word : line.split(" ")) {
                Long key = Long.valueOf(word);
                if (args[1].equals("java")) java.put(key, key);
                else if (args[1].equals("java-computed")) java.computeIfAbsent(key, each -> each);
                else scala.put(key, key);
            }
            StringJoiner order = new StringJoiner(" ");
            java.keySet().forEach(key -> order.add(key.toString()));
            for (var keys = scala.keysIterator(); keys.hasNext(); ) order.add(keys.next().toString());
            System.out.println(order);
        }
    }
}
