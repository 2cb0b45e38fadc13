// Anthropic's SDK, streamed and not.
import Anthropic from "@anthropic-ai/sdk";

const client = new Anthropic({ baseURL: process.env.BASE, maxRetries: 1 });
const ask = { model: "sim-plain", max_tokens: 64, messages: [{ role: "user", content: "Say hello." }] };

for await (const event of await client.messages.create({ ...ask, stream: true })) {
  console.log(event.type, JSON.stringify(event.delta ?? null));
}
console.log(JSON.stringify((await client.messages.create(ask)).usage));
