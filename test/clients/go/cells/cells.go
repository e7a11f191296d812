// Package cells is the shared code of all programs in this folder: prompts, expectations, and one
// JSON line for each cell.
package cells

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"strings"
	"time"
)

var (
	URL         = os.Getenv("PARLEY_URL")
	Key         = os.Getenv("PARLEY_KEY")
	Image       = os.Getenv("PARLEY_IMAGE")
	deployments = []string{"gpt", "claude", "sdk", "quick"}
)

const (
	Hello   = "Hello! Grüße, 你好 😀, from the mock."
	Paris   = "It is sunny in Paris."
	Both    = "It is sunny in Paris and it rains in Oslo."
	Red     = "A red square."
	TooLong = "Too many tokens."
)

// Usage is the usage that the upstream reports: prompt and completion tokens.
var Usage = []int64{11, 13}

// ForecastSchema is the shape of a structured reply.
var ForecastSchema = map[string]any{
	"type":                 "object",
	"properties":           map[string]any{"city": map[string]any{"type": "string"}, "degrees": map[string]any{"type": "integer"}},
	"required":             []string{"city", "degrees"},
	"additionalProperties": false,
}

// WeatherProperties describes the arguments of the tool.
var WeatherProperties = map[string]any{"city": map[string]any{"type": "string"}}

var prompts = map[string]string{
	"whole":      "Say hello.",
	"stream":     "Say hello.",
	"tools":      "Weather in Paris?",
	"parallel":   "Weather in Paris and Oslo?",
	"structured": "Forecast for Paris.",
	"image":      "What is in the picture?",
	"usage":      "Say hello.",
	"errors":     "Too long.",
	"cancel":     "Count slowly.",
}

// Case is one cell of one client and one deployment.
type Case struct{ Client, Deployment, Cell string }

func (c Case) Prompt() string {
	return fmt.Sprintf("%s (%s/%s/%s)", prompts[c.Cell], c.Client, c.Deployment, c.Cell)
}

// Cell is run for each deployment.
type Cell struct {
	Name string
	Run  func(context.Context, Case) error
}

// City reads the argument of the tool.
func City(arguments string) string {
	var given struct{ City string }
	if json.Unmarshal([]byte(arguments), &given) != nil {
		return arguments
	}
	return given.City
}

// WeatherOf is the tool that all programs offer.
func WeatherOf(city string) string {
	if city == "Paris" {
		return "sunny"
	}
	return "rain"
}

// Forecast checks a structured reply.
func Forecast(text string) error {
	var given struct {
		City    string
		Degrees int
	}
	if err := json.Unmarshal([]byte(text), &given); err != nil {
		return fmt.Errorf("%s: %w", text, err)
	}
	return Same(fmt.Sprintf("%s %d", given.City, given.Degrees), "Paris 21", "the forecast")
}

func Same(seen, expected any, what string) error {
	if !reflect.DeepEqual(seen, expected) {
		return fmt.Errorf("%s is %v, not %v", what, seen, expected)
	}
	return nil
}

func Holds(text, part string) error {
	if !strings.Contains(text, part) {
		return fmt.Errorf("the message is %q, without %q", text, part)
	}
	return nil
}

// Run runs each cell with each deployment and prints the results.
func Run(client string, suite []Cell) {
	for _, deployment := range deployments {
		for _, cell := range suite {
			err := runOne(cell, Case{client, deployment, cell.Name})
			seen := ""
			if err != nil {
				seen = err.Error()
			}
			line, _ := json.Marshal(map[string]any{
				"client": client, "deployment": deployment, "cell": cell.Name, "ok": err == nil, "seen": seen,
			})
			fmt.Println(string(line))
		}
	}
}

func runOne(cell Cell, each Case) (err error) {
	defer func() {
		if fault := recover(); fault != nil {
			err = fmt.Errorf("panic: %v", fault)
		}
	}()
	ctx, stop := context.WithTimeout(context.Background(), 30*time.Second)
	defer stop()
	return cell.Run(ctx, each)
}
