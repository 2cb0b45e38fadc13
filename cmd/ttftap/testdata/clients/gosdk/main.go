// Command gosdk asks a model by the OpenAI SDK for Go, over both of its APIs.
package main

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/responses"
)

func main() {
	client := openai.NewClient(option.WithBaseURL(os.Getenv("BASE")+"/v1"), option.WithMaxRetries(1))
	events := client.Responses.NewStreaming(context.Background(), responses.ResponseNewParams{
		Model: "sim-plain", Input: responses.ResponseNewParamsInputUnion{OfString: openai.String("Say hello.")},
	})
	for events.Next() {
		fmt.Println(events.Current().Type, events.Current().Delta)
	}
	chunks := client.Chat.Completions.NewStreaming(context.Background(), openai.ChatCompletionNewParams{
		Model: "sim-plain", Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage("Say hello.")},
		StreamOptions: openai.ChatCompletionStreamOptionsParam{IncludeUsage: openai.Bool(true)},
	})
	for chunks.Next() {
		fmt.Println(chunks.Current().Usage.TotalTokens)
		for _, choice := range chunks.Current().Choices {
			fmt.Println(choice.Delta.Content)
		}
	}
	for _, err := range []error{events.Err(), chunks.Err()} {
		if err != nil {
			log.Fatal(err)
		}
	}
}
