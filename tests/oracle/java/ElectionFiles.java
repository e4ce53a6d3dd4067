// Tells what Kafka's tools read in the files of an election plan (2.4 to 4.3): an answer for each line.
// A line: kind, path, groups with commas between them. The kinds: election, reassignment, resets. The answer is sorted;
// ! and the exception where the tool refuses the file.
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;

public class ElectionFiles {
    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = in.readLine()) != null; ) {
            String[] words = line.split(" ");
            try {
                System.out.println(read(words[0], words[1], words.length > 2 ? words[2] : ""));
            } catch (InvocationTargetException error) {
                System.out.println("!" + error.getCause().toString().replace('\n', ' '));
            }
        }
        System.out.flush();
        Runtime.getRuntime().halt(0); // the admin client's thread looks for a broker
    }

    private static String read(String kind, String path, String groups) throws Exception {
        switch (kind) {
            case "election": {
                Object tool = tool("org.apache.kafka.tools.LeaderElectionCommand", "kafka.admin.LeaderElectionCommand$");
                // The tool in Scala reads the file before it parses it.
                String given = tool instanceof Class ? path : Files.readString(Path.of(path));
                return sorted(call(tool, "parseReplicaElectionData", given));
            }
            case "reassignment": {
                Object tool = tool("org.apache.kafka.tools.reassign.ReassignPartitionsCommand",
                    "kafka.admin.ReassignPartitionsCommand$");
                String text = Files.readString(Path.of(path));
                boolean isOld = named(tool, "parseExecuteAssignmentArgs") == null;
                Object pair = call(tool, isOld ? "parsePartitionReassignmentData" : "parseExecuteAssignmentArgs", text);
                return sorted(part(pair, 0));
            }
            default:
                return sorted(call(service(groups), "parseResetPlan", Files.readString(Path.of(path))));
        }
    }

    /** Returns what has the parser of offsets: from 4.2 a class of its own, before that the service. */
    private static Object service(String groups) throws Exception {
        try {
            Class<?> utils = Class.forName("org.apache.kafka.tools.OffsetsUtils");
            Object options = made(Class.forName(utils.getName() + "$OffsetsUtilsOptions"),
                List.of(groups.split(",")), List.of("x"), 1000L);
            Object made = made(utils, null, null, options);
            if (named(made, "parseResetPlan") != null) return made;
        } catch (ClassNotFoundException before) {
            // the service has it
        }
        List<String> args = new ArrayList<>(List.of("--bootstrap-server", "127.0.0.1:9", "--reset-offsets",
            "--from-file", "x", "--execute"));
        for (String group : groups.split(",")) args.addAll(List.of("--group", group));
        String[] words = args.toArray(new String[0]);
        try {
            Class<?> options = Class.forName("org.apache.kafka.tools.consumer.group.ConsumerGroupCommandOptions");
            Object parsed = made(options, new Object[] {words});
            return made(Class.forName("org.apache.kafka.tools.consumer.group.ConsumerGroupCommand$ConsumerGroupService"),
                parsed, Map.of());
        } catch (ClassNotFoundException old) {
            Object parsed = made(Class.forName("kafka.admin.ConsumerGroupCommand$ConsumerGroupCommandOptions"),
                new Object[] {words});
            Object module = Class.forName("scala.collection.immutable.Map$").getField("MODULE$").get(null);
            Object none = module.getClass().getMethod("empty").invoke(module);
            return made(Class.forName("kafka.admin.ConsumerGroupCommand$ConsumerGroupService"), parsed, none);
        }
    }

    private static Object made(Class<?> type, Object... args) throws Exception {
        for (var constructor : type.getDeclaredConstructors()) {
            if (constructor.getParameterCount() != args.length) continue;
            constructor.setAccessible(true);
            return constructor.newInstance(args);
        }
        throw new IllegalStateException(type + " has no such constructor");
    }

    private static Object tool(String name, String old) throws Exception {
        try {
            return Class.forName(name);
        } catch (ClassNotFoundException error) {
            return Class.forName(old).getField("MODULE$").get(null);
        }
    }

    private static Method named(Object tool, String name) {
        Class<?> type = tool instanceof Class ? (Class<?>) tool : tool.getClass();
        for (Method method : type.getDeclaredMethods()) {
            Class<?>[] takes = method.getParameterTypes();
            if (method.getName().equals(name) && takes.length == 1 && takes[0] == String.class) return method;
        }
        return null;
    }

    private static Object call(Object tool, String name, String text) throws Exception {
        Method method = named(tool, name);
        method.setAccessible(true);
        return method.invoke(tool, text);
    }

    private static Object part(Object pair, int number) throws Exception {
        if (pair instanceof Map.Entry) return number == 0 ? ((Map.Entry<?, ?>) pair).getKey() : ((Map.Entry<?, ?>) pair).getValue();
        return invoked(pair, "_" + (number + 1));
    }

    private static Object invoked(Object value, String name) throws Exception {
        Method method = value.getClass().getMethod(name);
        method.setAccessible(true);
        return method.invoke(value);
    }

    private static boolean isPair(Object value) {
        return value instanceof Map.Entry || value.getClass().getName().startsWith("scala.Tuple2");
    }

    /** Returns the elements of a collection of Java or Scala, sorted; pairs as key=value. */
    private static String sorted(Object collection) throws Exception {
        TreeSet<String> texts = new TreeSet<>();
        for (Object element : elements(collection)) {
            texts.add(isPair(element) ? part(element, 0) + "=" + text(part(element, 1)) : element.toString());
        }
        return String.join(" ", texts);
    }

    private static String text(Object value) throws Exception {
        if (value instanceof Map || value.getClass().getName().contains("immutable.Map")
            || value.getClass().getName().contains("HashMap")) return "{" + sorted(value) + "}";
        if (value.getClass().getSimpleName().equals("OffsetAndMetadata")) return invoked(value, "offset").toString();
        List<String> texts = new ArrayList<>();
        for (Object element : elements(value)) texts.add(element.toString());
        return String.join(",", texts);
    }

    private static List<Object> elements(Object collection) throws Exception {
        List<Object> elements = new ArrayList<>();
        Object source = collection instanceof Map ? ((Map<?, ?>) collection).entrySet() : collection;
        if (source instanceof Iterable) {
            for (Object element : (Iterable<?>) source) elements.add(element);
            return elements;
        }
        Object iterator = invoked(source, "iterator");
        while ((boolean) invoked(iterator, "hasNext")) elements.add(invoked(iterator, "next"));
        return elements;
    }
}
