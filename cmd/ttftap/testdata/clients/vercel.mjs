// The Vercel AI SDK over both APIs of its OpenAI provider.
import { createOpenAI } from "@ai-sdk/openai";
import { generateText, streamText } from "ai";

const openai = createOpenAI({ baseURL: process.env.BASE + "/v1" });
for (const model of [openai.responses("sim-plain"), openai.chat("sim-plain")]) {
  const streamed = streamText({ model, prompt: "Say hello." });
  for await (const text of streamed.textStream) console.log(text);
  console.log(JSON.stringify(await streamed.usage));
  console.log((await generateText({ model, prompt: "Say hello." })).text);
}
