// Runs clients of the Responses API with the deployments in the arguments. Exits with 1 and a report on failure.
import assert from 'node:assert/strict';
import { createOpenAI } from '@ai-sdk/openai';
import { ChatOpenAI } from '@langchain/openai';
import { Agent, tool as agentTool, OpenAIProvider, Runner } from '@openai/agents';
import { tool as aiTool, generateText, stepCountIs, streamText } from 'ai';
import OpenAI from 'openai';
import { zodTextFormat } from 'openai/helpers/zod';
import { z } from 'zod';

const { PARLEY_URL, PARLEY_KEY: apiKey } = process.env;
const baseURL = `${PARLEY_URL}/v1`;
const city = z.object({ city: z.string() });
const execute = async (args) => `sunny in ${args.city}`;
const sunny = 'It is sunny in Paris.';
const client = new OpenAI({ baseURL, apiKey, maxRetries: 0 });

/** Two agents. The first hands over to the second, which calls a tool. */
async function agents(model) {
  const weather = agentTool({ name: 'get_weather', description: 'The weather in a city', parameters: city, execute });
  const forecaster = new Agent({ name: 'Forecaster', instructions: 'Tell the weather.', model, tools: [weather] });
  const triage = new Agent({ name: 'Triage', instructions: 'Hand over.', model, handoffs: [forecaster] });
  const modelProvider = new OpenAIProvider({ apiKey, baseURL, useResponses: true });
  const runner = new Runner({ modelProvider, tracingDisabled: true });
  const whole = await runner.run(triage, 'hand over: weather in Paris');
  assert.deepEqual([whole.finalOutput, whole.lastAgent?.name], [sunny, 'Forecaster']);
  const streamed = await runner.run(triage, 'hand over: weather in Paris', { stream: true });
  for await (const _event of streamed);
  await streamed.completed;
  assert.deepEqual([streamed.finalOutput, streamed.lastAgent?.name], [sunny, 'Forecaster']);
}

async function aiSdk(name) {
  const model = createOpenAI({ baseURL, apiKey })(name);
  const asking = { model, prompt: 'weather in Paris', tools: { get_weather: aiTool({ inputSchema: city, execute }) } };
  const { text, steps } = await generateText({ ...asking, stopWhen: stepCountIs(3) });
  assert.deepEqual([text, steps.length], [sunny, 2]);
  let heard = '';
  for await (const piece of streamText({ ...asking, stopWhen: stepCountIs(3) }).textStream) heard += piece;
  assert.equal(heard, sunny);
}

async function langchain(model) {
  const parameters = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
  const chat = new ChatOpenAI({ model, apiKey, useResponsesApi: true, maxRetries: 0, configuration: { baseURL } });
  const reply = await chat
    .bindTools([{ type: 'function', function: { name: 'get_weather', parameters } }])
    .invoke('weather in Paris');
  assert.deepEqual(
    reply.tool_calls?.map(({ name, args }) => [name, args]),
    [['get_weather', { city: 'Paris' }]],
  );
  let heard = '';
  for await (const chunk of await chat.stream('Say hello')) heard += chunk.text;
  assert.equal(heard, 'Hello from the mock.');
}

async function openai(model) {
  const whole = await client.responses.stream({ model, input: 'Say hello' }).finalResponse();
  assert.equal(whole.output_text, 'Hello from the mock.');
  assert.deepEqual((await client.responses.retrieve(whole.id)).output_text, whole.output_text);
  const person = z.object({ name: z.string(), age: z.number() });
  const parsed = await client.responses.parse({ model, input: 'a person', text: { format: zodTextFormat(person, 'person') } });
  assert.deepEqual(parsed.output_parsed, { name: 'Ada', age: 36 });
}

/** A background run that the client leaves and later continues to read. */
async function background(model) {
  const numbers = [];
  let id = '';
  for await (const event of await client.responses.create({ model, input: 'Say hello', background: true, stream: true })) {
    numbers.push(event.sequence_number);
    if (event.type === 'response.created') id = event.response.id;
    if (numbers.length === 4) break;
  }
  let last;
  for await (const event of await client.responses.retrieve(id, { stream: true, starting_after: numbers.at(-1) })) {
    numbers.push(event.sequence_number);
    last = event;
  }
  assert.deepEqual(
    numbers,
    numbers.map((_number, index) => index),
  );
  assert.equal(last?.type, 'response.completed');
}

for (const model of process.argv.slice(2))
  for (const run of [agents, aiSdk, langchain, openai, background])
    await run(model).catch((error) => {
      process.exitCode = 1;
      process.stderr.write(`${run.name} of ${model}: ${String(error?.stack ?? error).slice(0, 600)}\n`);
    });
