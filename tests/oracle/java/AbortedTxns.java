// Asks the TransactionIndex of the release on the class path (0.11 to 4.3) which transactions a fetch is told of.
// A line FILE END is answered by the producer ids and first offsets of collectAbortedTxns(0, END): "1@5 2@7".
import java.io.BufferedReader;
import java.io.File;
import java.io.InputStreamReader;
import java.lang.reflect.Method;
import java.util.StringJoiner;

public class AbortedTxns {
    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = in.readLine()) != null; ) {
            String[] words = line.split(" ");
            Object index = made(new File(words[0]));
            Object found = named(index, "collectAbortedTxns").invoke(index, 0L, Long.parseLong(words[1]));
            Object list = value(found, "abortedTransactions");
            // Up to 3.4 it is a Scala list.
            Object[] txns = list instanceof java.util.List<?> java ? java.toArray()
                : toArray((scala.collection.Seq<?>) list);
            StringJoiner told = new StringJoiner(" ");
            for (Object txn : txns)
                told.add(value(txn, "producerId") + "@" + value(txn, "firstOffset"));
            System.out.println(told);
        }
    }

    private static Object[] toArray(scala.collection.Seq<?> list) {
        Object[] found = new Object[list.size()];
        for (int i = 0; i < found.length; i++) found[i] = list.apply(i);
        return found;
    }

    private static Object made(File file) throws Exception {
        Class<?> type;
        try {
            type = Class.forName("org.apache.kafka.storage.internals.log.TransactionIndex");
        } catch (ClassNotFoundException e) {
            type = Class.forName("kafka.log.TransactionIndex");
        }
        return type.getConstructor(long.class, File.class).newInstance(0L, file);
    }

    private static Method named(Object of, String name) throws Exception {
        for (Method method : of.getClass().getDeclaredMethods())
            if (method.getName().equals(name) && method.getParameterCount() < 3) {
                method.setAccessible(true);
                return method;
            }
        throw new NoSuchMethodException(of.getClass() + "." + name);
    }

    /** What a method without arguments gives, or else a public field: which of them it is changes by release. */
    private static Object value(Object of, String name) throws Exception {
        try {
            return named(of, name).invoke(of);
        } catch (NoSuchMethodException e) {
            return of.getClass().getField(name).get(of);
        }
    }
}
