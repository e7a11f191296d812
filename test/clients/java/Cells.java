import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.charset.StandardCharsets;
import java.io.PrintStream;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * Shared code of all programs in this folder: prompts, expectations, and one JSON line for each
 * cell.
 */
final class Cells {
    static final String URL = System.getenv("PARLEY_URL");
    static final String KEY = System.getenv("PARLEY_KEY");
    static final String IMAGE = System.getenv("PARLEY_IMAGE");
    static final List<String> DEPLOYMENTS = List.of("gpt", "claude", "sdk", "quick");

    static final String HELLO = "Hello! Grüße, 你好 😀, from the mock.";
    static final String PARIS = "It is sunny in Paris.";
    static final String BOTH = "It is sunny in Paris and it rains in Oslo.";
    static final String RED = "A red square.";
    static final String TOO_LONG = "Too many tokens.";
    static final List<Long> USAGE = List.of(11L, 13L);

    private static final Map<String, String> PROMPTS = Map.of(
            "whole", "Say hello.",
            "stream", "Say hello.",
            "tools", "Weather in Paris?",
            "parallel", "Weather in Paris and Oslo?",
            "structured", "Forecast for Paris.",
            "image", "What is in the picture?",
            "usage", "Say hello.",
            "errors", "Too long.",
            "cancel", "Count slowly.");

    private Cells() {}

    /** One cell of one client and one deployment. */
    record Case(String client, String deployment, String cell) {
        String prompt() {
            return PROMPTS.get(cell) + " (" + client + "/" + deployment + "/" + cell + ")";
        }
    }

    interface Cell {
        void run(Case each) throws Exception;
    }

    interface Call {
        Object run() throws Exception;
    }

    /** Cells by name, in the order in which they are run. */
    static final class Suite extends LinkedHashMap<String, Cell> {
        Suite with(String cell, Cell run) {
            put(cell, run);
            return this;
        }
    }

    static String weatherOf(String city) {
        return city.equals("Paris") ? "sunny" : "rain";
    }

    static void same(Object seen, Object expected, String what) {
        if (!Objects.equals(seen, expected)) throw new AssertionError(what + " is " + seen + ", not " + expected);
    }

    static void holds(String text, String part) {
        if (text == null || !text.contains(part)) throw new AssertionError("the message is " + text + ", without " + part);
    }

    /**
     * Expects a failure with this class of exception, also as a cause, and returns the exception.
     */
    static <T extends Throwable> T raises(Class<T> kind, Call call) {
        Object result;
        try {
            result = call.run();
        } catch (Throwable thrown) {
            for (Throwable at = thrown; at != null; at = at.getCause()) if (kind.isInstance(at)) return kind.cast(at);
            throw new AssertionError(kind.getSimpleName() + " was expected, not " + thrown, thrown);
        }
        throw new AssertionError(kind.getSimpleName() + " was expected, not " + result);
    }

    /** Runs each cell with each deployment and prints the results. */
    static void run(String client, Suite suite) throws Exception {
        PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        ObjectMapper mapper = new ObjectMapper();
        for (String deployment : DEPLOYMENTS) {
            for (Map.Entry<String, Cell> cell : suite.entrySet()) {
                Case each = new Case(client, deployment, cell.getKey());
                String seen = "";
                boolean ok = true;
                try {
                    cell.getValue().run(each);
                } catch (Throwable thrown) {
                    ok = false;
                    seen = thrown.getClass().getSimpleName() + ": " + thrown.getMessage();
                }
                Map<String, Object> line = new LinkedHashMap<>();
                line.put("client", client);
                line.put("deployment", deployment);
                line.put("cell", cell.getKey());
                line.put("ok", ok);
                line.put("seen", seen.substring(0, Math.min(600, seen.length())));
                out.println(mapper.writeValueAsString(line));
            }
        }
    }
}
