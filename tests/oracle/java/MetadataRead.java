// Reads records of __cluster_metadata: a line is a value in base64; prints "ok TYPE", or "no" and why.
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.ByteBuffer;
import java.util.Base64;
import org.apache.kafka.common.protocol.ByteBufferAccessor;
import org.apache.kafka.metadata.MetadataRecordSerde;

public class MetadataRead {
    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, "UTF-8"));
        for (String line; (line = in.readLine()) != null; ) {
            byte[] value = Base64.getDecoder().decode(line);
            try {
                Object read = new MetadataRecordSerde().read(new ByteBufferAccessor(ByteBuffer.wrap(value)), value.length);
                System.out.println("ok " + read.toString().split("[(]")[1]);
            } catch (RuntimeException error) {
                System.out.println("no " + error.getMessage());
            }
        }
    }
}
