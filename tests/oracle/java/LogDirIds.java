// Asks a release whether it accepts the meta.properties in log dirs. Each line is log.dirs and metadata.log.dir, and is
// answered by "ok" or by the message of the exception.
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.Optional;
import java.util.OptionalInt;
import org.apache.kafka.metadata.properties.MetaPropertiesEnsemble;

public class LogDirIds {
    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, "UTF-8"));
        PrintStream out = new PrintStream(System.out, false, "UTF-8");
        for (String line; (line = in.readLine()) != null; ) {
            String[] words = line.split(" ");
            MetaPropertiesEnsemble.Loader loader = new MetaPropertiesEnsemble.Loader();
            loader.addMetadataLogDir(words[1]);
            loader.addLogDirs(Arrays.asList(words[0].split(",")));
            try {
                loader.load().verify(Optional.empty(), OptionalInt.empty(), EnumSet.of(
                    MetaPropertiesEnsemble.VerificationFlag.REQUIRE_METADATA_LOG_DIR));
                out.println("ok");
            } catch (RuntimeException error) {
                out.println(error.getMessage());
            }
        }
        out.flush();
        System.exit(0);
    }
}
