import static java.util.stream.Collectors.toList;

import com.openai.azure.AzureOpenAIServiceVersion;
import com.openai.azure.AzureUrlPathMode;
import com.openai.azure.credential.AzureApiKeyCredential;
import com.openai.client.OpenAIClient;
import com.openai.client.okhttp.OpenAIOkHttpClient;
import com.openai.core.JsonValue;
import com.openai.core.http.StreamResponse;
import com.openai.errors.BadRequestException;
import com.openai.errors.NotFoundException;
import com.openai.errors.PermissionDeniedException;
import com.openai.errors.RateLimitException;
import com.openai.errors.UnauthorizedException;
import com.openai.helpers.ChatCompletionAccumulator;
import com.openai.models.FunctionDefinition;
import com.openai.models.FunctionParameters;
import com.openai.models.chat.completions.ChatCompletion;
import com.openai.models.chat.completions.ChatCompletionChunk;
import com.openai.models.chat.completions.ChatCompletionContentPart;
import com.openai.models.chat.completions.ChatCompletionContentPartImage;
import com.openai.models.chat.completions.ChatCompletionContentPartText;
import com.openai.models.chat.completions.ChatCompletionCreateParams;
import com.openai.models.chat.completions.ChatCompletionMessage;
import com.openai.models.chat.completions.ChatCompletionMessageFunctionToolCall;
import com.openai.models.chat.completions.ChatCompletionStreamOptions;
import com.openai.models.chat.completions.ChatCompletionToolMessageParam;
import com.openai.models.completions.CompletionUsage;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/** openai-java with response validation: the default client and both Azure clients. */
public final class OpenaiCells {
    public static final class Forecast {
        public String city;
        public int degrees;
    }

    private final Function<String, OpenAIClient> connect;
    private final String codeOfUnknown;

    private OpenaiCells(Function<String, OpenAIClient> connect, String codeOfUnknown) {
        this.connect = connect;
        this.codeOfUnknown = codeOfUnknown;
    }

    private static OpenAIOkHttpClient.Builder builder(String path) {
        return OpenAIOkHttpClient.builder()
                .baseUrl(Cells.URL + path)
                .responseValidation(true)
                .maxRetries(0)
                .timeout(Duration.ofSeconds(30));
    }

    private static OpenAIClient azure(String path, AzureUrlPathMode mode, String key) {
        return builder(path)
                .credential(AzureApiKeyCredential.create(key))
                .azureServiceVersion(AzureOpenAIServiceVersion.getV2024_10_21())
                .azureUrlPathMode(mode)
                .build();
    }

    private static ChatCompletionCreateParams.Builder asking(Cells.Case each) {
        return ChatCompletionCreateParams.builder().model(each.deployment()).addUserMessage(each.prompt());
    }

    private ChatCompletion ask(ChatCompletionCreateParams.Builder params) {
        return connect.apply(Cells.KEY).chat().completions().create(params.build());
    }

    /** Returns the complete reply from the accumulator of the client. */
    private ChatCompletion accumulate(ChatCompletionCreateParams.Builder params) {
        ChatCompletionAccumulator accumulator = ChatCompletionAccumulator.create();
        try (StreamResponse<ChatCompletionChunk> chunks =
                connect.apply(Cells.KEY).chat().completions().createStreaming(params.build())) {
            chunks.stream().forEach(accumulator::accumulate);
        }
        return accumulator.chatCompletion();
    }

    private static ChatCompletionMessage messageOf(ChatCompletion reply) {
        return reply.choices().get(0).message();
    }

    private static List<ChatCompletionMessageFunctionToolCall> callsOf(ChatCompletion reply) {
        return messageOf(reply).toolCalls().orElse(List.of()).stream().map(call -> call.asFunction()).collect(toList());
    }

    private static List<String> argumentsOf(ChatCompletion reply) {
        return callsOf(reply).stream().map(call -> call.function().arguments()).collect(toList());
    }

    private static List<Long> tokensOf(ChatCompletion reply) {
        CompletionUsage usage = reply.usage().orElseThrow(() -> new AssertionError("no usage was told"));
        return List.of(usage.promptTokens(), usage.completionTokens());
    }

    private void whole(Cells.Case each) {
        ChatCompletion reply = ask(asking(each));
        Cells.same(messageOf(reply).content().orElse(null), Cells.HELLO, "the reply");
        Cells.same(reply.choices().get(0).finishReason().asString(), "stop", "finish_reason");
    }

    private void stream(Cells.Case each) {
        ChatCompletion reply = accumulate(asking(each));
        Cells.same(messageOf(reply).content().orElse(null), Cells.HELLO, "the reply");
    }

    private static FunctionDefinition weather() {
        return FunctionDefinition.builder()
                .name("get_weather")
                .description("The weather in a city")
                .parameters(FunctionParameters.builder()
                        .putAdditionalProperty("type", JsonValue.from("object"))
                        .putAdditionalProperty("properties", JsonValue.from(Map.of("city", Map.of("type", "string"))))
                        .putAdditionalProperty("required", JsonValue.from(List.of("city")))
                        .build())
                .build();
    }

    private void runTools(Cells.Case each, List<String> cities, String last) {
        ChatCompletion reply = ask(asking(each).addFunctionTool(weather()));
        List<String> expected = cities.stream().map(city -> "{\"city\":\"" + city + "\"}").collect(toList());
        Cells.same(argumentsOf(reply), expected, "the arguments");
        Cells.same(argumentsOf(accumulate(asking(each).addFunctionTool(weather()))), expected, "streamed");
        ChatCompletionCreateParams.Builder answered = asking(each).addFunctionTool(weather()).addMessage(messageOf(reply));
        for (ChatCompletionMessageFunctionToolCall call : callsOf(reply)) {
            answered.addMessage(ChatCompletionToolMessageParam.builder()
                    .toolCallId(call.id())
                    .content(Cells.weatherOf(call.function().arguments().contains("Paris") ? "Paris" : "Oslo"))
                    .build());
        }
        Cells.same(messageOf(ask(answered)).content().orElse(null), last, "the reply");
    }

    private void structured(Cells.Case each) {
        Forecast forecast = connect.apply(Cells.KEY).chat().completions()
                .create(asking(each).responseFormat(Forecast.class).build())
                .choices().get(0).message().content().orElseThrow();
        Cells.same(forecast.city, "Paris", "the city");
        Cells.same(forecast.degrees, 21, "the degrees");
    }

    private void image(Cells.Case each) {
        ChatCompletionContentPart text =
                ChatCompletionContentPart.ofText(ChatCompletionContentPartText.builder().text(each.prompt()).build());
        ChatCompletionContentPart picture = ChatCompletionContentPart.ofImageUrl(ChatCompletionContentPartImage.builder()
                .imageUrl(ChatCompletionContentPartImage.ImageUrl.builder()
                        .url("data:image/png;base64," + Cells.IMAGE)
                        .build())
                .build());
        ChatCompletion reply = ask(ChatCompletionCreateParams.builder()
                .model(each.deployment())
                .addUserMessageOfArrayOfContentParts(List.of(text, picture)));
        Cells.same(messageOf(reply).content().orElse(null), Cells.RED, "the reply");
    }

    private void usage(Cells.Case each) {
        Cells.same(tokensOf(ask(asking(each))), Cells.USAGE, "usage");
        ChatCompletionStreamOptions options = ChatCompletionStreamOptions.builder().includeUsage(true).build();
        Cells.same(tokensOf(accumulate(asking(each).streamOptions(options))), Cells.USAGE, "usage of the stream");
    }

    private void errors(Cells.Case each) {
        BadRequestException refused = Cells.raises(BadRequestException.class, () -> ask(asking(each)));
        Cells.holds(refused.getMessage(), Cells.TOO_LONG);
        Cells.holds(Cells.raises(BadRequestException.class, () -> accumulate(asking(each))).getMessage(), Cells.TOO_LONG);
        UnauthorizedException unknownKey = Cells.raises(
                UnauthorizedException.class,
                () -> connect.apply("wrong").chat().completions().create(asking(each).build()));
        Cells.same(unknownKey.code().orElse(null), "invalid_api_key", "code");
        NotFoundException unknown = Cells.raises(NotFoundException.class, () -> ask(asking(each).model("none")));
        Cells.same(unknown.code().orElse(null), codeOfUnknown, "code");
        Cells.raises(PermissionDeniedException.class, () -> ask(asking(each).model("staff")));
        Cells.raises(RateLimitException.class, () -> ask(asking(each).model("busy")));
        BadRequestException wrong = Cells.raises(BadRequestException.class, () -> ask(asking(each).temperature(3.0)));
        Cells.same(wrong.param().orElse(null), "temperature", "param");
    }

    private void cancel(Cells.Case each) {
        try (StreamResponse<ChatCompletionChunk> chunks =
                connect.apply(Cells.KEY).chat().completions().createStreaming(asking(each).build())) {
            chunks.stream().filter(OpenaiCells::hasContent).findFirst().orElseThrow();
        }
    }

    private static boolean hasContent(ChatCompletionChunk chunk) {
        return chunk.choices().stream().anyMatch(choice -> choice.delta().content().filter(text -> !text.isEmpty()).isPresent());
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
        Cells.run("openai-java", new OpenaiCells(key -> builder("/v1").apiKey(key).build(), "model_not_found").suite());
        Cells.run("openai-java Azure", new OpenaiCells(key -> azure("", AzureUrlPathMode.LEGACY, key), "DeploymentNotFound").suite());
        Cells.run("openai-java Azure v1", new OpenaiCells(key -> azure("/openai/v1", AzureUrlPathMode.UNIFIED, key), "model_not_found").suite());
        System.exit(0);
    }
}
