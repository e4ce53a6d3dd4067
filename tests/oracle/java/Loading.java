// Loads partition directories as a broker of the release on the class path does at its start (0.10.2, 1.1 to 4.3):
// LogLoader, ProducerStateManager, LeaderEpochFileCache and what else makes a log. A case is a line
//   DIRECTORY|clean or unclean|LOG START|RECOVERY POINT|NAME=VALUE NAME=VALUE ...
// with the two offsets of the checkpoints and the topic's configuration; its answer a line "LOG START LOG END RECOVERY
// POINT", or "!" and the simple class names of the exception and of its causes. With "|OFFSET" after that the log is
// truncated to the offset, closed and loaded again: the answer begins with the log end before. The directory is changed as the broker
// changes it; tasks that are due at once are done, what is to be deleted later is still there. Its clock stands at 0,
// so that no producer expires. By reflection: packages, names and arguments change from release to release.
import java.io.BufferedReader;
import java.io.File;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.Constructor;
import java.lang.reflect.Executable;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.Queue;
import java.util.StringJoiner;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import org.apache.kafka.common.utils.Time;

public class Loading {
    private static final String LOG = "org.apache.kafka.storage.internals.log.";

    public static void main(String[] args) throws Exception {
        BufferedReader cases = new BufferedReader(new InputStreamReader(System.in));
        PrintStream answers = new PrintStream(System.out, false);
        for (String line; (line = cases.readLine()) != null; ) answers.println(answer(line.split("\\|", -1)));
        answers.flush();
    }

    private static String answer(String[] parts) throws Exception {
        Properties settings = new Properties();
        for (String setting : parts[4].split(" "))
            if (!setting.isEmpty()) settings.put(setting.split("=")[0], setting.split("=")[1]);
        Object scheduler = scheduler();
        try {
            Object log = load(parts, settings, scheduler);
            String answer = "";
            if (parts.length > 5) {
                log.getClass().getMethod("truncateTo", long.class).invoke(log, Long.parseLong(parts[5]));
                answer = call(log, "logEndOffset") + " ";
                call(log, "close");
                log = load(parts, settings, scheduler);
            }
            answer += call(log, "logStartOffset") + " " + call(log, "logEndOffset") + " "
                + call(log, "recoveryPoint");
            call(scheduler, "shutdown"); // waits for what is due
            call(log, "close");
            return answer;
        } catch (InvocationTargetException e) {
            call(scheduler, "shutdown");
            StringJoiner chain = new StringJoiner(" ", "!", "");
            for (Throwable cause = e.getCause(); cause != null; cause = cause.getCause())
                chain.add(cause.getClass().getSimpleName());
            return chain.toString();
        }
    }

    private static Object load(String[] parts, Properties settings, Object scheduler) throws Exception {
        return load(new File(parts[0]), parts[1].equals("clean"), Long.parseLong(parts[2]), Long.parseLong(parts[3]),
            config(settings), scheduler);
    }

    /** Calls the factory of the release; of each type of argument there is one, or a queue in their order. */
    private static Object load(
        File directory, boolean clean, long logStart, long recoveryPoint, Object config, Object scheduler)
        throws Exception {
        Class<?> type = firstOf(LOG + "UnifiedLog", "kafka.log.UnifiedLog$", "kafka.log.Log$");
        Executable make = Arrays.stream(type.getMethods())
            .filter(method -> List.of("create", "apply").contains(method.getName())).map(method -> (Executable) method)
            .max(Comparator.comparingInt(Executable::getParameterCount))
            .orElseGet(() -> firstOf("kafka.log.Log").getConstructors()[0]);
        File marker = new File(directory.getParentFile(), ".kafka_cleanshutdown"); // up to 2.7 the log looks for it
        if (clean) marker.createNewFile();
        else marker.delete();
        boolean isNew = make instanceof Constructor; // up to 0.10.2, without a log start of its own
        Queue<Object> longs = new ArrayDeque<>(isNew ? List.of(recoveryPoint) : List.of(logStart, recoveryPoint));
        Queue<Object> ints = new ArrayDeque<>(List.of(600_000, 600_000));
        Queue<Object> booleans = new ArrayDeque<>(List.of(clean, true, false)); // keep partition.metadata, no tiers
        Object[] values = new Object[make.getParameterCount()];
        for (int i = 0; i < values.length; i++) {
            Class<?> wanted = make.getParameterTypes()[i];
            values[i] = wanted == File.class ? directory
                : wanted == long.class ? longs.remove()
                : wanted == int.class ? ints.remove()
                : wanted == boolean.class ? booleans.remove()
                : wanted == Time.class ? stopped()
                : wanted == Optional.class ? Optional.empty()
                : wanted == ConcurrentMap.class ? new ConcurrentHashMap<>()
                : wanted.getName().equals("scala.Option") ? scala.Option.empty()
                : wanted.isInstance(config) ? config
                : wanted.isInstance(scheduler) ? scheduler
                : made(wanted);
        }
        if (isNew) return ((Constructor<?>) make).newInstance(values);
        boolean isStatic = Modifier.isStatic(make.getModifiers());
        return ((Method) make).invoke(isStatic ? null : type.getField("MODULE$").get(null), values);
    }

    /** Makes the other arguments: metrics, the channel of failures, when producers expire, who listens to offsets. */
    private static Object made(Class<?> type) throws Exception {
        if (type.isInterface()) return type.getField("NO_OP_OFFSETS_LISTENER").get(null);
        var constructor = Arrays.stream(type.getConstructors())
            .min(Comparator.comparingInt(each -> each.getParameterCount())).orElseThrow();
        Object[] values = Arrays.stream(constructor.getParameterTypes())
            .map(each -> each == boolean.class ? (Object) false : 1000).toArray();
        return constructor.newInstance(values);
    }

    private static Object config(Properties settings) throws Exception {
        Class<?> type = firstOf(LOG + "LogConfig", "kafka.log.LogConfig");
        try {
            return type.getConstructor(Map.class).newInstance(settings);
        } catch (NoSuchMethodException e) {
            if (type.getConstructors()[0].getParameterCount() == 1) return type.getConstructors()[0].newInstance(settings);
            Object none = scala.collection.immutable.Set$.MODULE$.empty();
            return type.getConstructors()[0].newInstance(settings, none);
        }
    }

    private static Object scheduler() throws Exception {
        Class<?> type = firstOf("org.apache.kafka.server.util.KafkaScheduler", "kafka.utils.KafkaScheduler");
        Object scheduler = type.getConstructors().length > 1 ? type.getConstructor(int.class).newInstance(1)
            : type.getConstructors()[0].newInstance(1, "loading", true);
        call(scheduler, "startup");
        return scheduler;
    }

    private static Time stopped() {
        return (Time) Proxy.newProxyInstance(Time.class.getClassLoader(), new Class<?>[] {Time.class},
            (proxy, method, args) -> method.getName().equals("milliseconds") ? 0L : method.invoke(Time.SYSTEM, args));
    }

    private static Object call(Object object, String method) throws Exception {
        return object.getClass().getMethod(method).invoke(object);
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
}
