import dev.langchain4j.agent.tool.ToolExecutionRequest;
import dev.langchain4j.agent.tool.ToolSpecification;
import dev.langchain4j.data.image.Image;
import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.ImageContent;
import dev.langchain4j.data.message.TextContent;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import dev.langchain4j.data.message.UserMessage;
import dev.langchain4j.exception.AuthenticationException;
import dev.langchain4j.exception.HttpException;
import dev.langchain4j.exception.InvalidRequestException;
import dev.langchain4j.exception.ModelNotFoundException;
import dev.langchain4j.exception.RateLimitException;
import dev.langchain4j.model.anthropic.AnthropicChatModel;
import dev.langchain4j.model.anthropic.AnthropicStreamingChatModel;
import dev.langchain4j.model.chat.ChatModel;
import dev.langchain4j.model.chat.Capability;
import dev.langchain4j.model.chat.StreamingChatModel;
import dev.langchain4j.model.chat.request.ChatRequest;
import dev.langchain4j.model.chat.request.json.JsonObjectSchema;
import dev.langchain4j.model.chat.response.ChatResponse;
import dev.langchain4j.model.chat.response.PartialResponse;
import dev.langchain4j.model.chat.response.PartialResponseContext;
import dev.langchain4j.model.chat.response.StreamingChatResponseHandler;
import dev.langchain4j.model.openai.OpenAiChatModel;
import dev.langchain4j.model.openai.OpenAiStreamingChatModel;
import dev.langchain4j.service.AiServices;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;

/** langchain4j: the models for OpenAI and Anthropic. */
public final class Langchain4jCells {
    public record Forecast(String city, int degrees) {}

    interface Forecaster {
        Forecast tell(String question);
    }

    /** Creates the two models of one deployment. */
    interface Maker {
        ChatModel whole(String deployment, String key);

        StreamingChatModel streamed(String deployment, String key);
    }

    private static final Duration TIMEOUT = Duration.ofSeconds(30);

    private static final Maker OPENAI = new Maker() {
        @Override
        public ChatModel whole(String deployment, String key) {
            return OpenAiChatModel.builder()
                    .baseUrl(Cells.URL + "/v1")
                    .apiKey(key)
                    .modelName(deployment)
                    .supportedCapabilities(Set.of(Capability.RESPONSE_FORMAT_JSON_SCHEMA))
                    .strictJsonSchema(true)
                    .maxRetries(0)
                    .timeout(TIMEOUT)
                    .build();
        }

        @Override
        public StreamingChatModel streamed(String deployment, String key) {
            return OpenAiStreamingChatModel.builder()
                    .baseUrl(Cells.URL + "/v1")
                    .apiKey(key)
                    .modelName(deployment)
                    .timeout(TIMEOUT)
                    .build();
        }
    };

    private static final Maker ANTHROPIC = new Maker() {
        @Override
        public ChatModel whole(String deployment, String key) {
            return AnthropicChatModel.builder()
                    .baseUrl(Cells.URL + "/anthropic/v1")
                    .apiKey(key)
                    .modelName(deployment)
                    .supportedCapabilities(Set.of(Capability.RESPONSE_FORMAT_JSON_SCHEMA))
                    .maxTokens(1000)
                    .maxRetries(0)
                    .timeout(TIMEOUT)
                    .build();
        }

        @Override
        public StreamingChatModel streamed(String deployment, String key) {
            return AnthropicStreamingChatModel.builder()
                    .baseUrl(Cells.URL + "/anthropic/v1")
                    .apiKey(key)
                    .modelName(deployment)
                    .maxTokens(1000)
                    .timeout(TIMEOUT)
                    .build();
        }
    };

    private final Maker maker;

    private Langchain4jCells(Maker maker) {
        this.maker = maker;
    }

    private ChatModel model(Cells.Case each) {
        return maker.whole(each.deployment(), Cells.KEY);
    }

    /**
     * Returns the complete reply of a stream. With `isCancelled`, the stream is canceled after the
     * first piece.
     */
    private ChatResponse streamed(Cells.Case each, ChatRequest request, boolean isCancelled) throws Exception {
        CompletableFuture<ChatResponse> reply = new CompletableFuture<>();
        maker.streamed(each.deployment(), Cells.KEY).chat(request, new StreamingChatResponseHandler() {
            @Override
            public void onPartialResponse(PartialResponse part, PartialResponseContext context) {
                if (!isCancelled || part.text().isEmpty()) return;
                context.streamingHandle().cancel();
                reply.complete(null);
            }

            @Override
            public void onCompleteResponse(ChatResponse whole) {
                reply.complete(whole);
            }

            @Override
            public void onError(Throwable error) {
                reply.completeExceptionally(error);
            }
        });
        try {
            return reply.get(30, TimeUnit.SECONDS);
        } catch (ExecutionException error) {
            throw error.getCause() instanceof Exception cause ? cause : error;
        }
    }

    private static ChatRequest asking(Cells.Case each) {
        return ChatRequest.builder().messages(UserMessage.from(each.prompt())).build();
    }

    private void whole(Cells.Case each) {
        Cells.same(model(each).chat(each.prompt()), Cells.HELLO, "the reply");
    }

    private void stream(Cells.Case each) throws Exception {
        Cells.same(streamed(each, asking(each), false).aiMessage().text(), Cells.HELLO, "the reply");
    }

    private static List<String> argumentsOf(AiMessage message) {
        return message.toolExecutionRequests().stream().map(call -> call.arguments().replaceAll("\\s", "")).toList();
    }

    private void runTools(Cells.Case each, List<String> cities, String last) throws Exception {
        ToolSpecification weather = ToolSpecification.builder()
                .name("get_weather")
                .description("The weather in a city")
                .parameters(JsonObjectSchema.builder().addStringProperty("city").required("city").build())
                .build();
        List<ChatMessage> messages = new ArrayList<>(List.of(UserMessage.from(each.prompt())));
        ChatRequest request = ChatRequest.builder().messages(messages).toolSpecifications(weather).build();
        AiMessage asked = model(each).chat(request).aiMessage();
        List<String> expected = cities.stream().map(city -> "{\"city\":\"" + city + "\"}").toList();
        Cells.same(argumentsOf(asked), expected, "the arguments");
        Cells.same(argumentsOf(streamed(each, request, false).aiMessage()), expected, "streamed");
        messages.add(asked);
        for (ToolExecutionRequest call : asked.toolExecutionRequests()) {
            String city = call.arguments().contains("Paris") ? "Paris" : "Oslo";
            messages.add(ToolExecutionResultMessage.from(call, Cells.weatherOf(city)));
        }
        ChatRequest answered = ChatRequest.builder().messages(messages).toolSpecifications(weather).build();
        Cells.same(model(each).chat(answered).aiMessage().text(), last, "the reply");
    }

    private void structured(Cells.Case each) {
        Forecast forecast = AiServices.create(Forecaster.class, model(each)).tell(each.prompt());
        Cells.same(forecast, new Forecast("Paris", 21), "the forecast");
    }

    private void image(Cells.Case each) {
        Image picture = Image.builder().base64Data(Cells.IMAGE).mimeType("image/png").build();
        UserMessage message = UserMessage.from(TextContent.from(each.prompt()), ImageContent.from(picture));
        Cells.same(model(each).chat(message).aiMessage().text(), Cells.RED, "the reply");
    }

    private static List<Long> tokensOf(ChatResponse reply) {
        if (reply.tokenUsage() == null) throw new AssertionError("no usage was told");
        return List.of((long) reply.tokenUsage().inputTokenCount(), (long) reply.tokenUsage().outputTokenCount());
    }

    private void usage(Cells.Case each) throws Exception {
        Cells.same(tokensOf(model(each).chat(asking(each))), Cells.USAGE, "usage");
        Cells.same(tokensOf(streamed(each, asking(each), false)), Cells.USAGE, "usage of the stream");
    }

    private void errors(Cells.Case each) {
        Cells.holds(Cells.raises(InvalidRequestException.class, () -> model(each).chat(each.prompt())).getMessage(), Cells.TOO_LONG);
        Cells.holds(
                Cells.raises(InvalidRequestException.class, () -> streamed(each, asking(each), false)).getMessage(),
                Cells.TOO_LONG);
        Cells.raises(AuthenticationException.class, () -> maker.whole(each.deployment(), "wrong").chat(each.prompt()));
        Cells.raises(ModelNotFoundException.class, () -> maker.whole("none", Cells.KEY).chat(each.prompt()));
        HttpException closed = Cells.raises(HttpException.class, () -> maker.whole("staff", Cells.KEY).chat(each.prompt()));
        Cells.same(closed.statusCode(), 403, "the status");
        Cells.raises(RateLimitException.class, () -> maker.whole("busy", Cells.KEY).chat(each.prompt()));
    }

    private void cancel(Cells.Case each) throws Exception {
        Cells.same(streamed(each, asking(each), true), null, "what came after the cancel");
    }

    private Cells.Suite suite() {
        return new Cells.Suite()
                .with("whole", this::whole)
                .with("stream", this::stream)
                .with("tools", each -> runTools(each, List.of("Paris"), Cells.PARIS))
                .with("parallel", each -> runTools(each, List.of("Paris", "Oslo"), Cells.BOTH))
                .with("structured", this::structured)
                .with("image", this::image)
                .with("usage", this::usage)
                .with("errors", this::errors)
                .with("cancel", this::cancel);
    }

    public static void main(String[] args) throws Exception {
        Cells.run("langchain4j OpenAI", new Langchain4jCells(OPENAI).suite());
        Cells.run("langchain4j Anthropic", new Langchain4jCells(ANTHROPIC).suite());
        System.exit(0);
    }
}
