// anthropic-sdk-go: the Messages API.
package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
	"parley.test/clients/cells"
)

func connect(key string) anthropic.Client {
	return anthropic.NewClient(option.WithBaseURL(cells.URL+"/anthropic"), option.WithAPIKey(key), option.WithMaxRetries(0))
}

func asking(each cells.Case, more ...anthropic.ContentBlockParamUnion) anthropic.MessageNewParams {
	content := append(more, anthropic.NewTextBlock(each.Prompt()))
	return anthropic.MessageNewParams{
		Model:     anthropic.Model(each.Deployment),
		MaxTokens: 1000,
		Messages:  []anthropic.MessageParam{anthropic.NewUserMessage(content...)},
	}
}

func ask(ctx context.Context, params anthropic.MessageNewParams) (*anthropic.Message, error) {
	client := connect(cells.Key)
	return client.Messages.New(ctx, params)
}

// accumulate returns the complete reply of a stream from the accumulator of the client.
func accumulate(ctx context.Context, params anthropic.MessageNewParams) (*anthropic.Message, error) {
	client := connect(cells.Key)
	stream := client.Messages.NewStreaming(ctx, params)
	defer stream.Close()
	message := anthropic.Message{}
	for stream.Next() {
		if err := message.Accumulate(stream.Current()); err != nil {
			return nil, err
		}
	}
	return &message, stream.Err()
}

func text(reply *anthropic.Message, err error) (string, error) {
	if err != nil {
		return "", err
	}
	told := ""
	for _, block := range reply.Content {
		told += block.Text
	}
	return told, nil
}

func tells(expected string) func(*anthropic.Message, error) error {
	return func(reply *anthropic.Message, err error) error {
		told, err := text(reply, err)
		if err != nil {
			return err
		}
		return cells.Same(told, expected, "the reply")
	}
}

func whole(ctx context.Context, each cells.Case) error {
	return tells(cells.Hello)(ask(ctx, asking(each)))
}

func stream(ctx context.Context, each cells.Case) error {
	return tells(cells.Hello)(accumulate(ctx, asking(each)))
}

func runTools(cities []string, last string) func(context.Context, cells.Case) error {
	return func(ctx context.Context, each cells.Case) error {
		params := asking(each)
		params.Tools = []anthropic.ToolUnionParam{{OfTool: &anthropic.ToolParam{
			Name:        "get_weather",
			Description: anthropic.String("The weather in a city"),
			InputSchema: anthropic.ToolInputSchemaParam{Properties: cells.WeatherProperties, Required: []string{"city"}},
		}}}
		reply, err := ask(ctx, params)
		if err != nil {
			return err
		}
		streamed, err := accumulate(ctx, params)
		if err != nil {
			return err
		}
		for _, each := range []*anthropic.Message{reply, streamed} {
			asked := []string{}
			for _, block := range each.Content {
				if block.Type == "tool_use" {
					asked = append(asked, cells.City(string(block.Input)))
				}
			}
			if err := cells.Same(asked, cities, "the cities"); err != nil {
				return err
			}
		}
		results := []anthropic.ContentBlockParamUnion{}
		for _, block := range reply.Content {
			if block.Type == "tool_use" {
				weather := cells.WeatherOf(cells.City(string(block.Input)))
				results = append(results, anthropic.NewToolResultBlock(block.ID, weather, false))
			}
		}
		params.Messages = append(params.Messages, reply.ToParam(), anthropic.NewUserMessage(results...))
		return tells(last)(ask(ctx, params))
	}
}

func structured(ctx context.Context, each cells.Case) error {
	params := asking(each)
	params.OutputConfig = anthropic.OutputConfigParam{Format: anthropic.JSONOutputFormatParam{Schema: cells.ForecastSchema}}
	told, err := text(ask(ctx, params))
	if err != nil {
		return err
	}
	return cells.Forecast(told)
}

func image(ctx context.Context, each cells.Case) error {
	return tells(cells.Red)(ask(ctx, asking(each, anthropic.NewImageBlockBase64("image/png", cells.Image))))
}

func usage(ctx context.Context, each cells.Case) error {
	for what, call := range map[string]func(context.Context, anthropic.MessageNewParams) (*anthropic.Message, error){
		"usage": ask, "usage of the stream": accumulate,
	} {
		reply, err := call(ctx, asking(each))
		if err != nil {
			return err
		}
		if err := cells.Same([]int64{reply.Usage.InputTokens, reply.Usage.OutputTokens}, cells.Usage, what); err != nil {
			return err
		}
	}
	return nil
}

func refused(status int, call func() (*anthropic.Message, error)) (*anthropic.Error, error) {
	reply, err := call()
	var refusal *anthropic.Error
	if !errors.As(err, &refusal) {
		return nil, fmt.Errorf("an error of the API with %d was expected, not %v, %w", status, reply, err)
	}
	return refusal, cells.Same(refusal.StatusCode, status, "the status")
}

func refusals(ctx context.Context, each cells.Case) error {
	for _, call := range []func(context.Context, anthropic.MessageNewParams) (*anthropic.Message, error){ask, accumulate} {
		refusal, err := refused(400, func() (*anthropic.Message, error) { return call(ctx, asking(each)) })
		if err != nil {
			return err
		}
		if err := cells.Holds(refusal.RawJSON(), cells.TooLong); err != nil {
			return err
		}
	}
	stranger := connect("wrong")
	if _, err := refused(401, func() (*anthropic.Message, error) { return stranger.Messages.New(ctx, asking(each)) }); err != nil {
		return err
	}
	for model, status := range map[string]int{"none": 404, "staff": 403, "busy": 429} {
		params := asking(each)
		params.Model = anthropic.Model(model)
		if _, err := refused(status, func() (*anthropic.Message, error) { return ask(ctx, params) }); err != nil {
			return fmt.Errorf("%s: %w", model, err)
		}
	}
	return nil
}

func cancel(ctx context.Context, each cells.Case) error {
	ctx, leave := context.WithCancel(ctx)
	defer leave()
	client := connect(cells.Key)
	stream := client.Messages.NewStreaming(ctx, asking(each))
	for stream.Next() {
		if stream.Current().Type == "content_block_delta" {
			leave()
			break
		}
	}
	if ctx.Err() == nil {
		return fmt.Errorf("the stream ended before the cancellation: %w", stream.Err())
	}
	return nil
}

func main() {
	cells.Run("anthropic-sdk-go", []cells.Cell{
		{Name: "whole", Run: whole},
		{Name: "stream", Run: stream},
		{Name: "tools", Run: runTools([]string{"Paris"}, cells.Paris)},
		{Name: "parallel", Run: runTools([]string{"Paris", "Oslo"}, cells.Both)},
		{Name: "structured", Run: structured},
		{Name: "image", Run: image},
		{Name: "usage", Run: usage},
		{Name: "errors", Run: refusals},
		{Name: "cancel", Run: cancel},
	})
}
