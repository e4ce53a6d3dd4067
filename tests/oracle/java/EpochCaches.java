// Asks the LeaderEpochFileCache of the release on the class path. The first argument is a folder to work in.
// A case is a line "EPOCH:START EPOCH:START ...|LOG END OFFSET|QUESTION QUESTION ...", its answer a line of toString()s
// with tabs between; an exception is "!" and its simple class name and ends the case. Questions:
//   ?EPOCH endOffsetFor   @OFFSET epochForOffset (3.5+)   +EPOCH:START assign   <OFFSET truncateFromEnd
//   >OFFSET truncateFromStart; the last three answer with the entries that the cache has afterwards.
// Everything by reflection: the classes have other packages, constructors and method names from release to release.
import java.io.BufferedReader;
import java.io.File;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.nio.file.Files;
import java.util.Arrays;
import java.util.StringJoiner;
import org.apache.kafka.common.TopicPartition;

public class EpochCaches {
    private static final Class<?> CACHE = firstOf(
        "org.apache.kafka.storage.internals.epoch.LeaderEpochFileCache", "kafka.server.epoch.LeaderEpochFileCache");
    private static final Class<?> FILE = firstOf(
        "org.apache.kafka.storage.internals.checkpoint.LeaderEpochCheckpointFile",
        "kafka.server.checkpoints.LeaderEpochCheckpointFile");
    private static final Method END_OFFSET_FOR = method("endOffsetFor");
    private static final Method EPOCH_FOR_OFFSET = method("epochForOffset");
    private static final Method ASSIGN = method("assign");
    private static final Method FROM_END =
        method("truncateFromEndAsyncFlush", "truncateFromEnd", "clearAndFlushLatest");
    private static final Method FROM_START =
        method("truncateFromStartAsyncFlush", "truncateFromStart", "clearAndFlushEarliest");
    private static final Method ENTRIES = method("epochEntries");

    public static void main(String[] args) throws Exception {
        File file = new File(args[0], "leader-epoch-checkpoint");
        BufferedReader cases = new BufferedReader(new InputStreamReader(System.in));
        PrintStream answers = new PrintStream(System.out, false);
        for (String line; (line = cases.readLine()) != null; ) {
            String[] parts = line.split("\\|", -1);
            String[] entries = words(parts[0]);
            String lines = "0\n" + entries.length + "\n" + String.join("\n", entries).replace(':', ' ');
            Files.writeString(file.toPath(), lines);
            StringJoiner answer = new StringJoiner("\t");
            try {
                long logEndOffset = Long.parseLong(parts[1]);
                Object cache = cache(file, logEndOffset);
                for (String question : words(parts[2])) answer.add(ask(cache, question, logEndOffset));
            } catch (InvocationTargetException e) {
                answer.add("!" + e.getCause().getClass().getSimpleName());
            }
            answers.println(answer);
        }
        answers.flush();
    }

    private static String[] words(String text) {
        return text.isEmpty() ? new String[0] : text.split(" ");
    }

    private static String ask(Object cache, String question, long logEnd) throws ReflectiveOperationException {
        long[] numbers = Arrays.stream(question.substring(1).split(":")).mapToLong(Long::parseLong).toArray();
        switch (question.charAt(0)) {
            case '?':
                int epoch = (int) numbers[0];
                return (END_OFFSET_FOR.getParameterCount() == 2 ? END_OFFSET_FOR.invoke(cache, epoch, logEnd)
                    : END_OFFSET_FOR.invoke(cache, epoch)).toString();
            case '@': return EPOCH_FOR_OFFSET.invoke(cache, numbers[0]).toString();
            case '+': ASSIGN.invoke(cache, (int) numbers[0], numbers[1]); break;
            case '<': FROM_END.invoke(cache, numbers[0]); break;
            case '>': FROM_START.invoke(cache, numbers[0]); break;
            default: throw new IllegalStateException(question);
        }
        return ENTRIES.invoke(cache).toString();
    }

    private static Object cache(File file, long logEndOffset) throws ReflectiveOperationException {
        // Up to 2.0.0 the function gives a LogOffsetMetadata, to 2.8 a number; from 3.0 there is none.
        Object end = CACHE.getConstructors()[0].toGenericString().contains("LogOffsetMetadata")
            ? firstOf("kafka.server.LogOffsetMetadata").getConstructors()[0].newInstance(logEndOffset, 0L, 0)
            : Long.valueOf(logEndOffset);
        scala.Function0<Object> logEnd = () -> end;
        return make(CACHE, new TopicPartition("t", 0), logEnd, make(FILE, file));
    }

    /** Calls the only constructor; what is not given is a failure channel, or a scheduler that never runs anything. */
    private static Object make(Class<?> made, Object... given) throws ReflectiveOperationException {
        Constructor<?> constructor = made.getConstructors()[0];
        Object[] values = new Object[constructor.getParameterCount()];
        for (int i = 0; i < values.length; i++) {
            Class<?> type = constructor.getParameterTypes()[i];
            values[i] = Arrays.stream(given).filter(type::isInstance).findFirst().orElse(null);
            if (values[i] == null) values[i] = type.isInterface()
                ? Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, (proxy, method, args) -> null)
                : type.getConstructor(int.class).newInstance(1);
        }
        return constructor.newInstance(values);
    }

    private static Class<?> firstOf(String... names) {
        for (String name : names) {
            try {
                return Class.forName(name);
            } catch (ClassNotFoundException e) {
                continue;
            }
        }
        throw new NoClassDefFoundError(Arrays.toString(names));
    }

    /** The first of the names that exists; of overloads the one that takes plain numbers. */
    private static Method method(String... names) {
        for (String name : names)
            for (Method method : CACHE.getMethods())
                if (method.getName().equals(name)
                    && Arrays.stream(method.getParameterTypes()).allMatch(Class::isPrimitive)) return method;
        return null;
    }
}
