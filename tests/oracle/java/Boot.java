// Starts the LogManager of the release on the class path (0.10.2 to 4.3) on the log dirs of one broker, as the broker does,
// and tells what it made of them. Spoken by tests/oracle/boot.py, a line of JSON each way, when it said {} at first:
//   {"dirs": [PATH...], "settings": {NAME: VALUE}, "topics": {TOPIC: {NAME: VALUE}}, "stray": bool, "now": MILLISECONDS}
// is answered by what stands in the logs, when the tasks that are due at once are done; "later" by {}, when those that
// wait for a delay are done as well, and everything is closed. Tasks that come back again and again are never run.
// By reflection: packages, names and arguments change from release to release.
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.File;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.Stream;
import org.apache.kafka.common.utils.Time;

public class Boot {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final int NO_PERIOD = -1;
    private static final String ENDLESS = "kafka-delete-logs"; // asks for itself again at its end

    /** What Exit.exit and Exit.halt become: the process must go on with the next broker. */
    static class EndOfProcess extends Error {
        EndOfProcess(int status) {
            super("status " + status);
        }
    }

    /** A task that waits, with what KafkaScheduler would be told. */
    record Task(String name, Runnable run, long delay, long period) { }

    private final JsonNode job;
    private final Queue<Task> tasks = new ConcurrentLinkedQueue<>();
    private final Object failures;
    private Object manager;

    Boot(JsonNode job) throws Exception {
        this.job = job;
        Class<?> channel = firstOf("org.apache.kafka.storage.internals.log.LogDirFailureChannel",
            "kafka.server.LogDirFailureChannel");
        failures = channel == null ? null : made(channel); // it came with 1.0
    }

    public static void main(String[] args) throws Exception {
        Class<?> exit = firstOf("org.apache.kafka.common.utils.Exit"); // it came with 0.11
        for (String name : exit == null ? List.<String>of() : List.of("setExitProcedure", "setHaltProcedure")) {
            Method set = named(exit, name).findFirst().orElseThrow();
            set.invoke(null, proxy(set.getParameterTypes()[0], (proxy, method, ended) -> {
                throw new EndOfProcess((Integer) ended[0]);
            }));
        }
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, "UTF-8"));
        PrintStream out = new PrintStream(System.out, true, "UTF-8");
        out.println("{}");
        for (String line; (line = in.readLine()) != null; ) {
            Boot boot = new Boot(JSON.readTree(line));
            out.println(JSON.writeValueAsString(boot.start()));
            in.readLine();
            boot.finish();
            out.println("{}");
        }
    }

    /** Starts the log manager in a group of threads of its own: some outlive an exception, and still write. */
    private ObjectNode start() throws Exception {
        ObjectNode answer = JSON.createObjectNode();
        ThreadGroup group = new ThreadGroup("boot");
        Thread thread = new Thread(group, () -> {
            try {
                startManager();
            } catch (Throwable failure) {
                describe(failure, answer);
            }
        });
        thread.start();
        thread.join();
        while (busy(group)) Thread.sleep(1);
        runTasks(0);
        ArrayNode offline = answer.putArray("offline");
        if (failures != null)
            for (Object dir : (Collection<?>) field(failures, "offlineLogDirQueue").get(failures))
                offline.add((String) dir);
        answer.set("logs", logs());
        answer.put("halted", false);
        for (JsonNode dir : offline) fail(dir.asText(), answer);
        return answer;
    }

    /** Whether a thread loads a log. A start that fails early leaves its pools as they are, with nothing to do. */
    private static boolean busy(ThreadGroup group) {
        Thread[] threads = new Thread[group.activeCount() + 9];
        return Arrays.stream(threads, 0, group.enumerate(threads))
            .anyMatch(thread -> !thread.isDaemon() && (thread.getState() == Thread.State.RUNNABLE
                || Arrays.stream(thread.getStackTrace()).noneMatch(frame -> frame.getMethodName().equals("getTask"))));
    }

    private void fail(String dir, ObjectNode answer) throws Exception {
        if (answer.has("exception")) return;
        try {
            call(manager, "handleLogDirFailure", dir);
        } catch (EndOfProcess halted) {
            answer.put("halted", true);
        }
    }

    private static void describe(Throwable failure, ObjectNode answer) {
        while (failure instanceof InvocationTargetException && failure.getCause() != null) failure = failure.getCause();
        answer.put("message", failure.getMessage());
        ArrayNode classes = answer.putArray("exception");
        for (Throwable cause = failure; cause != null && classes.size() < 9; cause = cause.getCause())
            classes.add(cause.getClass().getSimpleName());
    }

    private void startManager() throws Exception {
        Object config = config();
        Class<?> companion = firstOf("kafka.log.LogManager$");
        Method make = companion == null ? null : named(companion, "apply")
            .max(Comparator.comparingInt(Method::getParameterCount)).orElse(null);
        // Up to 2.7 the factory asks ZooKeeper for the topics.
        if (make == null || Arrays.stream(make.getParameterTypes()).anyMatch(each -> each.getName().contains("Zk"))) {
            manager = constructed(config);
        } else {
            Object[] values = Arrays.stream(make.getParameterTypes())
                .map(type -> type.isInstance(config) ? config
                    : type.getName().equals("scala.collection.Seq") ? scala.collection.immutable.Nil$.MODULE$
                    : given(type)).toArray();
            Object made = make.invoke(companion.getField("MODULE$").get(null), values);
            // In 2.8 the factory wants KafkaScheduler itself, where the log manager is content with its interface.
            Field scheduler = Arrays.stream(made.getClass().getDeclaredFields())
                .filter(each -> each.getType().getSimpleName().equals("Scheduler")).findFirst().orElseThrow();
            scheduler.setAccessible(true);
            scheduler.set(made, given(scheduler.getType()));
            manager = made;
        }
        scala.collection.immutable.Set<Object> topics = scala.collection.immutable.Set$.MODULE$.empty();
        for (var names = job.get("topics").fieldNames(); names.hasNext(); )
            topics = (scala.collection.immutable.Set<Object>) call(topics, "$plus", names.next());
        scala.Function1<Object, Object> isStray = this::isStray;
        Method startup = named(manager.getClass(), "startup").findFirst().orElseThrow();
        startup.invoke(manager, Arrays.copyOf(new Object[] {topics, isStray}, startup.getParameterCount()));
    }

    /** What a log manager wants to be made with, by its type. */
    private Object given(Class<?> type) {
        try {
            return type.isInstance(failures) ? failures
                : type == Time.class ? clock()
                : type == boolean.class ? (Object) true
                : type.getSimpleName().equals("Scheduler") ? proxy(type, this::schedule)
                : type.getSimpleName().equals("KafkaScheduler") ? null
                : type.isInterface() ? proxy(type, this::topicConfig)
                : made(type);
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    /** Makes the log manager of a release up to 2.7, as its factory does. */
    private Object constructed(Object config) throws Exception {
        Object server = Class.forName("kafka.server.KafkaServer$").getField("MODULE$").get(null);
        Object defaults = call(server, "copyKafkaConfigToLog", config);
        Method fromProps = named(Class.forName("kafka.log.LogConfig"), "fromProps").findFirst().orElseThrow();
        scala.collection.immutable.Map<Object, Object> topics = scala.collection.immutable.Map$.MODULE$.empty();
        for (var names = job.get("topics").fieldNames(); names.hasNext(); ) {
            String name = names.next();
            topics = (scala.collection.immutable.Map<Object, Object>)
                topics.$plus(new scala.Tuple2<>(name, fromProps.invoke(null, defaults, topicSettings(name))));
        }
        scala.collection.immutable.List<Object> dirs = none();
        for (int i = job.get("dirs").size(); i-- > 0; )
            dirs = new scala.collection.immutable.$colon$colon<>(new File(job.get("dirs").get(i).asText()), dirs);
        Constructor<?> make = Class.forName("kafka.log.LogManager").getConstructors()[0];
        Class<?>[] wanted = make.getParameterTypes();
        Object[] values = new Object[wanted.length];
        for (int i = 0; i < wanted.length; i++)
            values[i] = wanted[i] == File[].class ? list(dirs).toArray(new File[0])
                : wanted[i].getName().equals("scala.collection.Seq") ? (i == 0 ? dirs : none())
                : wanted[i].getName().equals("scala.collection.Map") ? topics
                : wanted[i].getSimpleName().equals("LogConfig")
                    ? fromProps.invoke(null, defaults, new Properties())
                : wanted[i] == int.class && wanted[i - 1] != long.class ? (Object) 1 // threads for each log dir
                : given(wanted[i]);
        return make.newInstance(values);
    }

    private static scala.collection.immutable.List<Object> none() {
        return (scala.collection.immutable.List<Object>) (Object) scala.collection.immutable.Nil$.MODULE$;
    }

    /** In KRaft a log without a topic id is stray; whether the id is the right one stands in the cluster metadata. */
    private Object isStray(Object log) {
        try {
            return job.get("stray").asBoolean() && (Boolean) call(call(log, "topicId"), "isEmpty");
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    private Object config() throws Exception {
        Properties settings = new Properties();
        job.get("settings").fields().forEachRemaining(each -> settings.put(each.getKey(), each.getValue().asText()));
        List<String> dirs = new ArrayList<>();
        job.get("dirs").forEach(dir -> dirs.add(dir.asText()));
        settings.put("log.dirs", String.join(",", dirs));
        return Class.forName("kafka.server.KafkaConfig").getMethod("fromProps", Properties.class, boolean.class)
            .invoke(null, settings, false);
    }

    private Object topicConfig(Object proxy, Method method, Object[] args) throws Throwable {
        if (!method.getName().equals("topicConfig")) return InvocationHandler.invokeDefault(proxy, method, args);
        return topicSettings((String) args[0]);
    }

    private Properties topicSettings(String name) {
        Properties settings = new Properties();
        job.get("topics").path(name).fields()
            .forEachRemaining(each -> settings.put(each.getKey(), each.getValue().asText()));
        return settings;
    }

    /** Keeps the task: schedule(name, task, delay, period, ...) and scheduleOnce(name, task, [delay]). */
    private Object schedule(Object proxy, Method method, Object[] args) throws Throwable {
        if (!method.getName().equals("schedule") && !method.getName().equals("scheduleOnce"))
            return method.isDefault() ? InvocationHandler.invokeDefault(proxy, method, args)
                : method.getReturnType() == boolean.class ? (Object) true : null;
        Runnable run = args[1] instanceof Runnable ? (Runnable) args[1] : () -> ((scala.Function0<?>) args[1]).apply();
        long delay = args.length > 2 ? (Long) args[2] : 0;
        tasks.add(new Task((String) args[0], run, delay, args.length > 3 ? (Long) args[3] : NO_PERIOD));
        return null;
    }

    /** Runs the tasks that wait for up to `delay`, and those that they bring about. As in a broker, none ends it. */
    private void runTasks(long delay) {
        for (Task task; (task = tasks.stream()
            .filter(each -> each.period < 0 && each.delay <= delay && !each.name.equals(ENDLESS))
            .findFirst().orElse(null)) != null; ) {
            tasks.remove(task);
            try {
                task.run.run();
            } catch (Throwable failure) {
                System.err.println("task " + task.name + ": " + failure);
            }
        }
    }

    private Map<Object, String> states() throws Exception {
        Map<Object, String> found = new LinkedHashMap<>();
        if (manager == null) return found;
        for (String state : List.of("current", "future", "stray"))
            for (Object log : values(state + "Logs")) found.put(log, state);
        for (Object log : values("logs")) found.put(log, "current"); // up to 1.0
        for (Object waiting : (Collection<?>) field(manager, "logsToBeDeleted").get(manager))
            found.put(waiting instanceof scala.Tuple2<?, ?> pair ? pair._1() : waiting, "deleted");
        return found;
    }

    private Collection<?> values(String name) throws Exception {
        Field field;
        try {
            field = field(manager, name);
        } catch (NoSuchFieldException e) {
            return List.of(); // stray logs came with 3.8, future ones with 1.1
        }
        Object logs = field.get(manager);
        return logs instanceof Map ? ((Map<?, ?>) logs).values() : list(call(logs, "values"));
    }

    private ArrayNode logs() throws Exception {
        ArrayNode logs = JSON.createArrayNode();
        for (Map.Entry<Object, String> each : states().entrySet()) {
            Object log = each.getKey();
            File dir = (File) call(log, "dir");
            Object partition = call(log, "topicPartition");
            ObjectNode row = logs.addObject();
            row.put("log_dir", dir.getParent()).put("dir", dir.getName()).put("state", each.getValue());
            row.put("topic", (String) call(partition, "topic")).put("partition", (Integer) call(partition, "partition"));
            row.put("log_start_offset", (Long) call(log, "logStartOffset"));
            row.put("log_end_offset", (Long) call(log, "logEndOffset"));
            row.put("recovery_point", (Long) call(log, "recoveryPoint"));
            ArrayNode epochs = row.putArray("leader_epochs");
            boolean counts = named(log.getClass(), "leaderEpochCache").findAny().isPresent(); // from 0.11 on
            Object cache = counts ? some(call(log, "leaderEpochCache")) : null;
            if (cache != null)
                for (Object entry : list(call(cache, "epochEntries")))
                    epochs.addArray().add((Integer) part(entry, "epoch")).add((Long) part(entry, "startOffset"));
        }
        return logs;
    }

    /** Does what waits, and lets go of every file; nothing is written by that. */
    private void finish() throws Exception {
        runTasks(Long.MAX_VALUE);
        for (Object log : states().keySet()) quietly(log, "closeHandlers");
        if (manager != null)
            for (Object lock : list(field(manager, "dirLocks").get(manager))) quietly(lock, "destroy");
        Object registry = firstOf("org.apache.kafka.server.metrics.KafkaYammerMetrics",
            "kafka.metrics.KafkaYammerMetrics", "com.yammer.metrics.Metrics").getMethod("defaultRegistry").invoke(null);
        Method remove = named(registry.getClass(), "removeMetric")
            .filter(method -> method.getParameterCount() == 1).findFirst().orElseThrow();
        for (Object name : new ArrayList<>(((Map<?, ?>) call(registry, "allMetrics")).keySet()))
            remove.invoke(registry, name);
    }

    private static void quietly(Object object, String method) {
        try {
            call(object, method);
        } catch (Exception | EndOfProcess e) {
            System.err.println(method + ": " + e);
        }
    }

    private Object clock() {
        long now = job.get("now").asLong();
        return proxy(Time.class, (proxy, method, args) ->
            method.getName().equals("milliseconds") ? (Object) now : method.invoke(Time.SYSTEM, args));
    }

    private static Object proxy(Class<?> type, InvocationHandler handler) {
        return Proxy.newProxyInstance(Boot.class.getClassLoader(), new Class<?>[] {type}, handler);
    }

    private static Object made(Class<?> type) throws Exception {
        if (type.isPrimitive()) return type == long.class ? (Object) 1000L : 604800000;
        Constructor<?> constructor = Arrays.stream(type.getConstructors())
            .min(Comparator.comparingInt(each -> each.getParameterCount())).orElseThrow();
        Object[] values = Arrays.stream(constructor.getParameterTypes())
            .map(each -> each == boolean.class ? (Object) false
                : each == int.class ? (Object) 1000 : each == long.class ? (Object) 1000L
                : each == double.class ? (Object) 0.5
                : each == java.util.Optional.class ? java.util.Optional.empty() : null).toArray();
        return constructor.newInstance(values);
    }

    private static Stream<Method> named(Class<?> type, String name) {
        return Arrays.stream(type.getMethods()).filter(each -> each.getName().equals(name));
    }

    private static Object call(Object object, String name, Object... args) throws Exception {
        Method method = named(object.getClass(), name)
            .filter(each -> each.getParameterCount() == args.length).findFirst().orElseThrow();
        method.setAccessible(true);
        try {
            return method.invoke(object, args);
        } catch (InvocationTargetException e) {
            if (e.getCause() instanceof EndOfProcess end) throw end;
            throw e;
        }
    }

    /** A private field; the compiler of Scala puts the class before the name of some. */
    private static Field field(Object object, String name) throws Exception {
        for (Field each : object.getClass().getDeclaredFields())
            if (each.getName().equals(name) || each.getName().endsWith("$$" + name)) {
                each.setAccessible(true);
                return each;
            }
        throw new NoSuchFieldException(name);
    }

    private static Object part(Object entry, String name) throws Exception {
        try {
            return call(entry, name);
        } catch (java.util.NoSuchElementException e) {
            return entry.getClass().getField(name).get(entry);
        }
    }

    private static Object some(Object value) throws Exception {
        if (value instanceof scala.Option<?> option) return option.isEmpty() ? null : option.get();
        if (value instanceof java.util.Optional<?> optional) return optional.orElse(null);
        return value;
    }

    private static List<Object> list(Object values) {
        List<Object> found = new ArrayList<>();
        if (values instanceof Iterable<?> iterable) iterable.forEach(found::add);
        else for (var each = ((scala.collection.Iterable<?>) values).iterator(); each.hasNext(); ) found.add(each.next());
        return found;
    }

    private static Class<?> firstOf(String... names) {
        for (String name : names) {
            try {
                return Class.forName(name);
            } catch (ClassNotFoundException e) {
                continue;
            }
        }
        return null;
    }
}
