// Makes messages with the generated classes of the release on the class path, or reads them. Arguments: a folder, and
// `make` or `read`. A case is a line `CLASS VERSION SEED` or `CLASS VERSION BASE64`, CLASS that of the message with its
// package. The answer is `BYTES JSON` of a message with random fields, both in base64, or how many bytes are left and the JSON of
// what the others hold, or "!" and the class of the exception. "?" is a class or a version
// that the release lacks.
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Modifier;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Collection;
import java.util.Random;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.protocol.ByteBufferAccessor;
import org.apache.kafka.common.protocol.Message;
import org.apache.kafka.common.protocol.ObjectSerializationCache;

public class Messages {
    public static void main(String[] args) throws Exception {
        BufferedReader cases = new BufferedReader(new InputStreamReader(System.in));
        PrintStream answers = new PrintStream(System.out, false, "UTF-8");
        for (String line; (line = cases.readLine()) != null; ) {
            String[] words = line.split(" ", 3);
            Class<?> type = found(words[0]);
            if (type == null) {
                answers.println("?");
                continue;
            }
            short version = Short.parseShort(words[1]);
            if (args[1].equals("make")) answers.println(make(type, version, Long.parseLong(words[2])));
            else answers.println(read(type, version, Base64.getDecoder().decode(words[2])));
        }
        answers.flush();
    }

    private static Class<?> found(String name) {
        try {
            return Class.forName(name);
        } catch (ClassNotFoundException e) {
            return null;
        }
    }

    // A field that the version lacks must keep its default: where Kafka refuses to write it, others are drawn.
    private static String make(Class<?> type, short version, long seed) throws Exception {
        Random random = new Random(seed);
        for (int chance = 100; ; chance -= 2) {
            Message message = (Message) type.getConstructor().newInstance();
            if (version > message.highestSupportedVersion()) return "?";
            fill(message, random, chance);
            try {
                ObjectSerializationCache cache = new ObjectSerializationCache();
                ByteBuffer buffer = ByteBuffer.allocate(message.size(cache, version));
                message.write(new ByteBufferAccessor(buffer), cache, version);
                return base64(buffer.array()) + " " + json(type, message, version);
            } catch (org.apache.kafka.common.errors.UnsupportedVersionException | NullPointerException e) {
                if (chance <= 0) throw e;
            }
        }
    }

    private static String read(Class<?> type, short version, byte[] bytes) throws Exception {
        ByteBuffer buffer = ByteBuffer.wrap(bytes);
        try {
            Message message = (Message) type.getConstructor().newInstance();
            message.read(new ByteBufferAccessor(buffer), version);
            return buffer.remaining() + " " + json(type, message, version);
        } catch (RuntimeException e) {
            return "!" + e.getClass().getSimpleName();
        }
    }

    private static String json(Class<?> type, Object message, short version) throws Exception {
        Class<?> converter = Class.forName(type.getName() + "JsonConverter");
        try {
            Object node = converter.getMethod("write", type, short.class).invoke(null, message, version);
            return base64(node.toString().getBytes(StandardCharsets.UTF_8));
        } catch (InvocationTargetException e) {
            throw (RuntimeException) e.getCause();
        }
    }

    private static String base64(byte[] bytes) {
        return Base64.getEncoder().encodeToString(bytes);
    }

    // Sets each field with this chance in percent.
    private static void fill(Object message, Random random, int chance) throws Exception {
        for (Field field : message.getClass().getDeclaredFields()) {
            if (Modifier.isStatic(field.getModifiers()) || field.getName().startsWith("_")) continue;
            if (field.getName().equals("next") || field.getName().equals("prev")) continue;
            if (random.nextInt(100) >= chance) continue;
            field.setAccessible(true);
            Object value = value(field.getType(), field.getGenericType(), random, chance);
            field.set(message, field.getName().equals("port") ? (int) value & 0xffff : value); // the one uint16
        }
    }

    private static Object value(Class<?> type, Type generic, Random random, int chance) throws Exception {
        boolean small = random.nextInt(3) == 0;
        if (type == boolean.class) return random.nextBoolean();
        if (type == byte.class || type == Byte.class) return (byte) random.nextInt();
        if (type == short.class || type == Short.class) return (short) (small ? random.nextInt(3) - 1 : random.nextInt());
        if (type == int.class || type == Integer.class) return small ? random.nextInt(3) : random.nextInt();
        if (type == long.class || type == Long.class) return small ? random.nextInt(3) - 1 : random.nextLong();
        if (type == double.class) return number(random);
        if (type == Uuid.class) return small ? Uuid.ZERO_UUID : new Uuid(random.nextLong(), random.nextLong());
        if (random.nextInt(8) == 0) return null;
        if (type == String.class) return text(random);
        if (type == byte[].class || type == ByteBuffer.class) {
            byte[] bytes = new byte[random.nextInt(small ? 300 : 5)];
            random.nextBytes(bytes);
            return type == byte[].class ? bytes : ByteBuffer.wrap(bytes);
        }
        if (Collection.class.isAssignableFrom(type)) return items(type, generic, random, chance);
        Object inner = type.getConstructor().newInstance();
        fill(inner, random, chance);
        return inner;
    }

    @SuppressWarnings("unchecked")
    private static Object items(Class<?> type, Type generic, Random random, int chance) throws Exception {
        Type full = generic instanceof ParameterizedType ? generic : type.getGenericSuperclass();
        Class<?> item = (Class<?>) ((ParameterizedType) full).getActualTypeArguments()[0];
        Collection<Object> found =
            type.isInterface() ? new java.util.ArrayList<>() : (Collection<Object>) type.getConstructor().newInstance();
        for (int left = random.nextInt(random.nextInt(20) == 0 ? 200 : 4); left > 0; left--) {
            Object each;
            do each = value(item, item, random, chance); while (each == null);
            found.add(each);
        }
        return found;
    }

    private static double number(Random random) {
        double[] odd = {0.0, -0.0, 1e7, 9999999.0, 1e-3, 9.99e-4, 1024.0, Double.NaN, Double.POSITIVE_INFINITY,
            Double.NEGATIVE_INFINITY, Double.MAX_VALUE, Double.MIN_NORMAL, 0.1, 123456789.125, -2.5e-10};
        int index = random.nextInt(2 * odd.length);
        return index < odd.length ? odd[index] : Math.round(random.nextGaussian() * 1e6) / 64.0;
    }

    private static String text(Random random) {
        int[] odd = {0, 9, 10, 13, 31, 34, 47, 92, 127, 159, 0xe9, 0x2028, 0x20ac, 0xfffd, 0x1f600};
        StringBuilder text = new StringBuilder();
        int size = random.nextInt(random.nextInt(30) == 0 ? 200 : 12);
        for (int left = size; left > 0; left--)
            text.appendCodePoint(random.nextInt(6) == 0 ? odd[random.nextInt(odd.length)] : 97 + random.nextInt(26));
        return text.toString();
    }
}
