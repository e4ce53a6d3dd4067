// Writes `FIRST_OFFSET PRODUCER_ID PRODUCER_EPOCH` for each open transaction of a partition, as its leader answers
// DescribeProducers (3.0 and later): BOOTSTRAP TOPIC.
import java.util.List;
import java.util.Properties;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.ProducerState;
import org.apache.kafka.common.TopicPartition;

public class OpenTransactions {
    public static void main(String[] args) throws Exception {
        Properties settings = new Properties();
        settings.put("bootstrap.servers", args[0]);
        try (Admin admin = Admin.create(settings)) {
            TopicPartition partition = new TopicPartition(args[1], 0);
            for (ProducerState state : admin.describeProducers(List.of(partition)).partitionResult(partition).get().activeProducers())
                if (state.currentTransactionStartOffset().isPresent())
                    System.out.println(state.currentTransactionStartOffset().getAsLong() + " " + state.producerId() + " " + state.producerEpoch());
        }
    }
}
