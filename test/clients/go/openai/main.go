// openai-go: the default client and the Azure client.
package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/azure"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/shared"
	"parley.test/clients/cells"
)

type connect func(key string) openai.Client

func plain(key string) openai.Client {
	return openai.NewClient(option.WithBaseURL(cells.URL+"/v1"), option.WithAPIKey(key), option.WithMaxRetries(0))
}

func inAzure(key string) openai.Client {
	return openai.NewClient(azure.WithEndpoint(cells.URL, "2024-10-21"), azure.WithAPIKey(key), azure.WithUnsafeAllowHTTP(), option.WithMaxRetries(0))
}

type suite struct {
	connect       connect
	codeOfUnknown string
}

func asking(each cells.Case) openai.ChatCompletionNewParams {
	return openai.ChatCompletionNewParams{
		Model:    each.Deployment,
		Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage(each.Prompt())},
	}
}

func (s suite) ask(ctx context.Context, params openai.ChatCompletionNewParams) (*openai.ChatCompletion, error) {
	client := s.connect(cells.Key)
	return client.Chat.Completions.New(ctx, params)
}

// accumulate returns the complete reply of a stream from the accumulator of the client.
func (s suite) accumulate(ctx context.Context, params openai.ChatCompletionNewParams) (*openai.ChatCompletion, error) {
	client := s.connect(cells.Key)
	stream := client.Chat.Completions.NewStreaming(ctx, params)
	defer stream.Close()
	accumulator := openai.ChatCompletionAccumulator{}
	for stream.Next() {
		if !accumulator.AddChunk(stream.Current()) {
			return nil, fmt.Errorf("the accumulator refuses %s", stream.Current().RawJSON())
		}
	}
	return &accumulator.ChatCompletion, stream.Err()
}

func content(reply *openai.ChatCompletion, err error) (string, error) {
	if err != nil {
		return "", err
	}
	if len(reply.Choices) != 1 {
		return "", fmt.Errorf("there are %d choices", len(reply.Choices))
	}
	return reply.Choices[0].Message.Content, nil
}

func tells(expected string) func(*openai.ChatCompletion, error) error {
	return func(reply *openai.ChatCompletion, err error) error {
		text, err := content(reply, err)
		if err != nil {
			return err
		}
		return cells.Same(text, expected, "the reply")
	}
}

func (s suite) whole(ctx context.Context, each cells.Case) error {
	return tells(cells.Hello)(s.ask(ctx, asking(each)))
}

func (s suite) stream(ctx context.Context, each cells.Case) error {
	return tells(cells.Hello)(s.accumulate(ctx, asking(each)))
}

func (s suite) runTools(cities []string, last string) func(context.Context, cells.Case) error {
	return func(ctx context.Context, each cells.Case) error {
		params := asking(each)
		params.Tools = []openai.ChatCompletionToolUnionParam{openai.ChatCompletionFunctionTool(shared.FunctionDefinitionParam{
			Name:        "get_weather",
			Description: openai.String("The weather in a city"),
			Parameters:  shared.FunctionParameters{"type": "object", "properties": cells.WeatherProperties, "required": []string{"city"}},
		})}
		reply, err := s.ask(ctx, params)
		if err != nil {
			return err
		}
		streamed, err := s.accumulate(ctx, params)
		if err != nil {
			return err
		}
		for _, each := range []*openai.ChatCompletion{reply, streamed} {
			asked := []string{}
			for _, call := range each.Choices[0].Message.ToolCalls {
				asked = append(asked, cells.City(call.Function.Arguments))
			}
			if err := cells.Same(asked, cities, "the cities"); err != nil {
				return err
			}
		}
		params.Messages = append(params.Messages, reply.Choices[0].Message.ToParam())
		for _, call := range reply.Choices[0].Message.ToolCalls {
			weather := cells.WeatherOf(cells.City(call.Function.Arguments))
			params.Messages = append(params.Messages, openai.ToolMessage(weather, call.ID))
		}
		return tells(last)(s.ask(ctx, params))
	}
}

func (s suite) structured(ctx context.Context, each cells.Case) error {
	params := asking(each)
	params.ResponseFormat = openai.ChatCompletionNewParamsResponseFormatUnion{
		OfJSONSchema: &shared.ResponseFormatJSONSchemaParam{
			JSONSchema: shared.ResponseFormatJSONSchemaJSONSchemaParam{
				Name: "forecast", Schema: cells.ForecastSchema, Strict: openai.Bool(true),
			},
		},
	}
	text, err := content(s.ask(ctx, params))
	if err != nil {
		return err
	}
	return cells.Forecast(text)
}

func (s suite) image(ctx context.Context, each cells.Case) error {
	params := asking(each)
	params.Messages = []openai.ChatCompletionMessageParamUnion{openai.UserMessage([]openai.ChatCompletionContentPartUnionParam{
		openai.TextContentPart(each.Prompt()),
		openai.ImageContentPart(openai.ChatCompletionContentPartImageImageURLParam{URL: "data:image/png;base64," + cells.Image}),
	})}
	return tells(cells.Red)(s.ask(ctx, params))
}

func (s suite) usage(ctx context.Context, each cells.Case) error {
	reply, err := s.ask(ctx, asking(each))
	if err != nil {
		return err
	}
	if err := cells.Same([]int64{reply.Usage.PromptTokens, reply.Usage.CompletionTokens}, cells.Usage, "usage"); err != nil {
		return err
	}
	params := asking(each)
	params.StreamOptions = openai.ChatCompletionStreamOptionsParam{IncludeUsage: openai.Bool(true)}
	streamed, err := s.accumulate(ctx, params)
	if err != nil {
		return err
	}
	return cells.Same([]int64{streamed.Usage.PromptTokens, streamed.Usage.CompletionTokens}, cells.Usage, "usage of the stream")
}

func refused(status int, call func() (*openai.ChatCompletion, error)) (*openai.Error, error) {
	reply, err := call()
	var refusal *openai.Error
	if !errors.As(err, &refusal) {
		return nil, fmt.Errorf("an error of the API with %d was expected, not %v, %w", status, reply, err)
	}
	return refusal, cells.Same(refusal.StatusCode, status, "the status")
}

func (s suite) errors(ctx context.Context, each cells.Case) error {
	for _, call := range []func() (*openai.ChatCompletion, error){
		func() (*openai.ChatCompletion, error) { return s.ask(ctx, asking(each)) },
		func() (*openai.ChatCompletion, error) { return s.accumulate(ctx, asking(each)) },
	} {
		refusal, err := refused(400, call)
		if err != nil {
			return err
		}
		if err := cells.Holds(refusal.Message, cells.TooLong); err != nil {
			return err
		}
	}
	stranger := suite{connect: func(string) openai.Client { return s.connect("wrong") }}
	if _, err := refused(401, func() (*openai.ChatCompletion, error) { return stranger.ask(ctx, asking(each)) }); err != nil {
		return err
	}
	for model, status := range map[string]int{"none": 404, "staff": 403, "busy": 429} {
		params := asking(each)
		params.Model = model
		refusal, err := refused(status, func() (*openai.ChatCompletion, error) { return s.ask(ctx, params) })
		if err != nil {
			return fmt.Errorf("%s: %w", model, err)
		}
		if model == "none" {
			if err := cells.Same(refusal.Code, s.codeOfUnknown, "code"); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s suite) cancel(ctx context.Context, each cells.Case) error {
	ctx, leave := context.WithCancel(ctx)
	defer leave()
	client := s.connect(cells.Key)
	stream := client.Chat.Completions.NewStreaming(ctx, asking(each))
	for stream.Next() {
		if chunk := stream.Current(); len(chunk.Choices) > 0 && chunk.Choices[0].Delta.Content != "" {
			leave()
			break
		}
	}
	if ctx.Err() == nil {
		return fmt.Errorf("the stream ended before the cancellation: %w", stream.Err())
	}
	return nil
}

func (s suite) cells() []cells.Cell {
	return []cells.Cell{
		{Name: "whole", Run: s.whole},
		{Name: "stream", Run: s.stream},
		{Name: "tools", Run: s.runTools([]string{"Paris"}, cells.Paris)},
		{Name: "parallel", Run: s.runTools([]string{"Paris", "Oslo"}, cells.Both)},
		{Name: "structured", Run: s.structured},
		{Name: "image", Run: s.image},
		{Name: "usage", Run: s.usage},
		{Name: "errors", Run: s.errors},
		{Name: "cancel", Run: s.cancel},
	}
}

func main() {
	cells.Run("openai-go", suite{plain, "model_not_found"}.cells())
	cells.Run("openai-go Azure", suite{inAzure, "DeploymentNotFound"}.cells())
}
