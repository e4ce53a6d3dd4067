// Opens copies of `__cluster_metadata-0` as a KRaft broker does: KafkaMetadataLog 3.0 to 4.2, KafkaRaftLog 4.3.
// Each line is the path of such a directory, and is answered by a line of JSON: log start, log end and recovery point,
// or the exception that ends the start. Tasks that are due at once are done then, the others never. From 3.8 on the
// latest snapshot is read as KRaftControlRecordStateMachine does, whatever its records say.
// By reflection: packages, names and arguments change from release to release.
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.File;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.utils.BufferSupplier;
import org.apache.kafka.common.utils.LogContext;
import org.apache.kafka.common.utils.Time;

public class MetadataLog {
    private static final List<Runnable> TASKS = new ArrayList<>();

    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, "UTF-8"));
        PrintStream out = new PrintStream(System.out, true, "UTF-8");
        for (String line; (line = in.readLine()) != null; )
            out.println(new ObjectMapper().writeValueAsString(opened(new File(line))));
    }

    private static Map<String, Object> opened(File dir) throws Exception {
        Map<String, Object> told = new LinkedHashMap<>();
        TASKS.clear();
        Method make = factory();
        try {
            Object raft = make.invoke(owner(make), Arrays.stream(make.getParameterTypes())
                .map(type -> type == File.class ? dir : given(type)).toArray());
            while (!TASKS.isEmpty()) TASKS.remove(0).run();
            Object log = called(raft, "log");
            for (String name : List.of("logStartOffset", "logEndOffset", "recoveryPoint"))
                told.put(name, called(log, name));
            Object snapshot = readsSnapshots() ? ((Optional<?>) called(raft, "latestSnapshot")).orElse(null) : null;
            if (snapshot != null) read(snapshot);
        } catch (InvocationTargetException | KafkaException failure) { // the latter of a task: the log dir fails
            Throwable why = failure instanceof KafkaException ? failure : failure.getCause();
            told.clear();
            told.put("exception", why.getClass().getSimpleName());
            told.put("message", why.getMessage());
        }
        return told;
    }

    private static boolean readsSnapshots() {
        try {
            Class.forName("org.apache.kafka.raft.internals.KRaftControlRecordStateMachine");
            return true;
        } catch (ClassNotFoundException e) {
            return false;
        }
    }

    private static void read(Object snapshot) throws Exception {
        Method of = Arrays.stream(Class.forName("org.apache.kafka.snapshot.RecordsSnapshotReader").getMethods())
            .filter(each -> each.getName().equals("of")).findFirst().orElseThrow();
        Iterator<?> batches = (Iterator<?>) of.invoke(null, Arrays.stream(of.getParameterTypes())
            .map(type -> type.isInstance(snapshot) ? snapshot
                : type == boolean.class ? (Object) true
                : type == int.class ? (Object) (8 << 20)
                : type == BufferSupplier.class ? BufferSupplier.create()
                : type == LogContext.class ? new LogContext()
                : given(type)).toArray());
        Method hasNext = Iterator.class.getMethod("hasNext"), next = Iterator.class.getMethod("next");
        while ((Boolean) hasNext.invoke(batches)) next.invoke(batches);
    }

    private static Method factory() throws Exception {
        Class<?> type;
        try {
            type = Class.forName("org.apache.kafka.raft.internals.KafkaRaftLog");
        } catch (ClassNotFoundException e) {
            type = Class.forName("kafka.raft.KafkaMetadataLog$");
        }
        return Arrays.stream(type.getMethods())
            .filter(each -> each.getName().equals("apply") || each.getName().equals("createLog"))
            .findFirst().orElseThrow();
    }

    private static Object owner(Method make) throws Exception {
        return make.getName().equals("apply") ? make.getDeclaringClass().getField("MODULE$").get(null) : null;
    }

    private static Object given(Class<?> type) {
        try {
            return type == TopicPartition.class ? new TopicPartition("__cluster_metadata", 0)
                : type == Uuid.class ? new Uuid(0, 1)
                : type == Time.class ? Time.SYSTEM
                : type == int.class ? (Object) 1
                : type.isInterface() ? Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, SCHEDULER)
                : config(type);
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    /** Keeps what is due at once: schedule(name, task, delay, ...) and scheduleOnce(name, task, [delay]). */
    private static final InvocationHandler SCHEDULER = (proxy, method, args) -> {
        if (method.isDefault()) return InvocationHandler.invokeDefault(proxy, method, args);
        boolean once = method.getName().startsWith("schedule");
        if (once && (args.length < 3 || (Long) args[2] == 0))
            TASKS.add(args[1] instanceof Runnable run ? run : () -> ((scala.Function0<?>) args[1]).apply());
        return method.getReturnType() == boolean.class ? (Object) true : null;
    };

    private static Object config(Class<?> type) throws Exception {
        Constructor<?> make = type.getConstructors()[0];
        if (make.getParameterCount() == 1) {
            Properties settings = new Properties();
            settings.putAll(Map.of("process.roles", "broker", "node.id", "1", "controller.listener.names", "CONTROLLER",
                "controller.quorum.voters", "100@127.0.0.1:1", "listeners", "PLAINTEXT://127.0.0.1:2"));
            return make.newInstance(Class.forName("kafka.server.KafkaConfig")
                .getMethod("fromProps", Properties.class, boolean.class).invoke(null, settings, false));
        }
        return make.newInstance(Arrays.stream(make.getParameterTypes())
            .map(each -> each == int.class ? (Object) (8 << 20) : (Object) 604800000L).toArray());
    }

    private static Object called(Object object, String name) throws Exception {
        Method method;
        try {
            method = object.getClass().getMethod(name);
        } catch (NoSuchMethodException e) {
            method = object.getClass().getDeclaredMethod(name);
        }
        method.setAccessible(true);
        return method.invoke(object);
    }
}
