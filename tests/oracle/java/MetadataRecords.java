// Makes records of `__cluster_metadata` as a controller writes them. A case is a line `TYPE VERSION JSON`, TYPE the name
// of a MetadataRecordType, JSON the fields as Kafka's JSON converters have them. The answer is the record in base64.
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.util.Base64;
import org.apache.kafka.common.metadata.MetadataJsonConverters;
import org.apache.kafka.common.metadata.MetadataRecordType;
import org.apache.kafka.common.protocol.ByteBufferAccessor;
import org.apache.kafka.common.protocol.ObjectSerializationCache;
import org.apache.kafka.metadata.MetadataRecordSerde;
import org.apache.kafka.server.common.ApiMessageAndVersion;

public class MetadataRecords {
    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, "UTF-8"));
        PrintStream out = new PrintStream(System.out, false, "UTF-8");
        for (String line; (line = in.readLine()) != null; ) {
            String[] words = line.split(" ", 3);
            short version = Short.parseShort(words[1]);
            ApiMessageAndVersion record = new ApiMessageAndVersion(MetadataJsonConverters.readJson(
                new ObjectMapper().readTree(words[2]), MetadataRecordType.valueOf(words[0]).id(), version), version);
            ObjectSerializationCache cache = new ObjectSerializationCache();
            MetadataRecordSerde serde = new MetadataRecordSerde();
            ByteBuffer buffer = ByteBuffer.allocate(serde.recordSize(record, cache));
            serde.write(record, cache, new ByteBufferAccessor(buffer));
            out.println(Base64.getEncoder().encodeToString(buffer.array()));
        }
        out.flush();
    }
}
