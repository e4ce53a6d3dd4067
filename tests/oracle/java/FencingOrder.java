// Tells in which order a new controller fences brokers (BrokerHeartbeatTracker from 4.0 on, before BrokerHeartbeatManager).
// A line: brokers as ID:EPOCH in the order in which they registered; the answer: their ids as they are fenced.
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.Map;
import java.util.Optional;
import org.apache.kafka.common.utils.LogContext;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.timeline.SnapshotRegistry;
import org.apache.kafka.timeline.TimelineHashMap;

public class FencingOrder {
    static final String PLACE = "org.apache.kafka.controller.";

    public static void main(String[] args) throws Exception {
        boolean tracks = true;
        try {
            Class.forName(PLACE + "BrokerHeartbeatTracker");
        } catch (ClassNotFoundException e) {
            tracks = false;
        }
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = in.readLine()) != null; ) {
            TimelineHashMap<Integer, Long> brokers = new TimelineHashMap<>(new SnapshotRegistry(new LogContext()), 0);
            for (int time = 0; time < 2; time++) // A registration, then its change: the broker is not fenced any more.
                for (String word : line.split(" "))
                    brokers.put(Integer.parseInt(word.split(":")[0]), Long.parseLong(word.split(":")[1]));
            System.out.println(tracks ? tracked(brokers) : managed(brokers));
        }
    }

    static String tracked(Map<Integer, Long> brokers) throws Exception {
        Object tracker = made("BrokerHeartbeatTracker", Time.SYSTEM, 1L);
        for (Map.Entry<Integer, Long> each : brokers.entrySet()) {
            Object key = made("BrokerIdAndEpoch", each.getKey(), each.getValue());
            method(tracker, "updateContactTime", 2).invoke(tracker, key, 0L);
        }
        StringBuilder order = new StringBuilder();
        while (true) {
            Optional<?> next = (Optional<?>) method(tracker, "maybeRemoveExpired", 1).invoke(tracker, 100L);
            if (next.isEmpty()) return order.toString().trim();
            order.append(method(next.get(), "id", 0).invoke(next.get())).append(" ");
        }
    }

    static String managed(Map<Integer, Long> brokers) throws Exception {
        Object manager = made("BrokerHeartbeatManager", new LogContext(), Time.SYSTEM, 1L);
        for (Integer id : brokers.keySet()) method(manager, "register", 2).invoke(manager, id, false);
        Thread.sleep(1);
        StringBuilder order = new StringBuilder();
        while (true) {
            Optional<?> next = (Optional<?>) method(manager, "findOneStaleBroker", 0).invoke(manager);
            if (next.isEmpty()) return order.toString().trim();
            order.append(next.get()).append(" ");
            method(manager, "fence", 1).invoke(manager, next.get());
        }
    }

    static Object made(String name, Object... values) throws Exception {
        Constructor<?> made = Class.forName(PLACE + name).getDeclaredConstructors()[0];
        made.setAccessible(true);
        return made.newInstance(values);
    }

    static Method method(Object of, String name, int count) {
        Method found = Arrays.stream(of.getClass().getDeclaredMethods())
            .filter(each -> each.getName().equals(name) && each.getParameterCount() == count).findFirst().get();
        found.setAccessible(true);
        return found;
    }
}
