// Opens remote-log-index-cache as a start does (RemoteIndexCache). Each line of standard input holds its files,
// NAME:SIZE, separated by spaces; a size of -1 makes a directory. The answer is "starts" or the exception's class, and
// the names that are left, sorted.
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Collectors;
import java.util.stream.Stream;

public class RemoteIndexCaches {
    private static Constructor<?> constructor() throws Exception {
        Class<?> cache;
        try {
            cache = Class.forName("org.apache.kafka.storage.internals.log.RemoteIndexCache");
        } catch (ClassNotFoundException e) {
            cache = Class.forName("kafka.log.remote.RemoteIndexCache"); // 3.5
        }
        for (Constructor<?> constructor : cache.getConstructors())
            if (constructor.getParameterCount() == 3)
                return constructor;
        throw new IllegalStateException();
    }

    private static Object[] arguments(Constructor<?> constructor, Path logDir) {
        Object[] arguments = new Object[3];
        for (int i = 0; i < 3; i++) {
            Class<?> type = constructor.getParameterTypes()[i];
            arguments[i] = type == long.class ? (Object) (1L << 20) : type == int.class ? (Object) 1024
                : type == String.class ? logDir.toString() : null;
        }
        return arguments;
    }

    public static void main(String[] args) throws Exception {
        Constructor<?> constructor = constructor();
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        int count = 0;
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            Path logDir = Path.of(args[0], "d" + count++);
            Path cache = Files.createDirectories(logDir.resolve("remote-log-index-cache"));
            for (String file : line.split(" ")) {
                int colon = file.lastIndexOf(':');
                int size = Integer.parseInt(file.substring(colon + 1));
                Path path = cache.resolve(file.substring(0, colon));
                if (size < 0)
                    Files.createDirectory(path);
                else
                    Files.write(path, new byte[size]);
            }
            String answer = "starts";
            try {
                constructor.newInstance(arguments(constructor, logDir));
            } catch (InvocationTargetException e) {
                answer = "fails";
            }
            try (Stream<Path> left = Files.list(cache)) {
                System.out.println(answer + " " + left.map(p -> p.getFileName().toString()).sorted().collect(Collectors.joining(",")));
            }
        }
        System.exit(0);
    }
}
