// Restores ZooKeeper data directories as a server of the release on the class path does: FileTxnSnapLog.restore. Each
// line is the path of one, and is answered by a line of JSON: the last transaction, and for each znode its data in
// base64, czxid, mzxid, version and ephemeralOwner; or the exception that ends the start.
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.File;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.Proxy;
import java.util.Arrays;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.zookeeper.data.Stat;
import org.apache.zookeeper.server.DataTree;
import org.apache.zookeeper.server.persistence.FileTxnSnapLog;

public class Znodes {
    public static void main(String[] args) throws Exception {
        System.setProperty("zookeeper.snapshot.trust.empty", "true");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, "UTF-8"));
        PrintStream out = new PrintStream(System.out, true, "UTF-8");
        for (String line; (line = in.readLine()) != null; )
            out.println(new ObjectMapper().writeValueAsString(restored(new File(line))));
    }

    private static Map<String, Object> restored(File dir) throws Exception {
        Map<String, Object> answer = new LinkedHashMap<>();
        FileTxnSnapLog files = new FileTxnSnapLog(dir, dir);
        DataTree tree = new DataTree();
        try {
            answer.put("zxid", files.restore(tree, new ConcurrentHashMap<>(), (FileTxnSnapLog.PlayBackListener)
                Proxy.newProxyInstance(Znodes.class.getClassLoader(),
                    new Class<?>[] {FileTxnSnapLog.PlayBackListener.class}, (proxy, method, arguments) -> null)));
            Map<String, Object> znodes = new TreeMap<>();
            walk(tree, "/", znodes);
            answer.put("znodes", znodes);
        } catch (Exception | Error failure) {
            answer.clear();
            answer.put("exception", failure.toString());
        } finally {
            files.close();
        }
        return answer;
    }

    private static void walk(DataTree tree, String path, Map<String, Object> znodes) throws Exception {
        Stat stat = new Stat();
        byte[] data = tree.getData(path, stat, null);
        znodes.put(path, Arrays.asList(data == null ? null : Base64.getEncoder().encodeToString(data),
            stat.getCzxid(), stat.getMzxid(), stat.getVersion(), stat.getEphemeralOwner()));
        for (String child : tree.getChildren(path, new Stat(), null))
            walk(tree, (path.equals("/") ? "" : path) + "/" + child, znodes);
    }
}
