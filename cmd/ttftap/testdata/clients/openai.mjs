// The OpenAI SDK: each API that it has, streamed and not.
import OpenAI from "openai";

const client = new OpenAI({ baseURL: process.env.BASE + "/v1", maxRetries: 1 });
const messages = [{ role: "user", content: "Say hello." }];

for await (const event of await client.responses.create({ model: "sim-plain", input: "Say hello.", stream: true })) {
  console.log(event.type, event.delta ?? "");
}
console.log((await client.responses.create({ model: "sim-plain", input: "Say hello." })).output_text);
for await (const chunk of await client.chat.completions.create({ model: "sim-plain", messages, stream: true, stream_options: { include_usage: true } })) {
  console.log(chunk.choices[0]?.delta?.content ?? "", JSON.stringify(chunk.usage ?? null));
}
for await (const chunk of await client.chat.completions.create({ model: "sim-plain", messages, stream: true })) {
  console.log(chunk.choices[0]?.delta?.content ?? "");
}
console.log((await client.chat.completions.create({ model: "sim-plain", messages })).choices[0].message.content);
console.log((await client.embeddings.create({ model: "sim-plain", input: "hello" })).data.length);
