// Uses the custom endpoints of a librechat.yaml with the packages of LibreChat. It reads the file, lists models, streams a chat,
// calls a tool, shows thoughts, creates a title, and reports errors. The first argument is the file, and the remaining arguments
// are deployments. Exits with 1 and a report on failure.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import {
  ChatModelStreamHandler,
  createContentAggregator,
  GraphEvents,
  ModelEndHandler,
  Providers,
  Run,
  TitleMethod,
  ToolEndHandler,
} from '@librechat/agents';
import { HumanMessage } from '@librechat/agents/langchain/messages';
import { tool } from '@librechat/agents/langchain/tools';
import { load } from 'js-yaml';
import { configSchema, extractEnvVariable } from 'librechat-data-provider';

const [file, ...deployments] = process.argv.slice(2);
const config = load(await readFile(file, 'utf8'));
/** Returns the file as LibreChat parses it, without unknown fields. */
const known = configSchema.strict().parse(config);
const told = ['ON_RUN_STEP', 'ON_RUN_STEP_DELTA', 'ON_RUN_STEP_COMPLETED', 'ON_MESSAGE_DELTA', 'ON_REASONING_DELTA'];
const getWeather = tool(async ({ city }) => `sunny in ${city}`, {
  name: 'get_weather',
  description: 'The weather in a city',
  schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
});

/** Returns the settings of a model as LibreChat derives them from an endpoint. */
function settingsOf(endpoint, model) {
  const { baseURL, addParams } = endpoint;
  const apiKey = extractEnvVariable(endpoint.apiKey);
  const common = { provider: Providers.OPENAI, model, apiKey, streaming: true, user: 'a-user', configuration: { baseURL } };
  return { ...common, maxRetries: 0, ...addParams };
}

/** Runs a conversation turn: the visible parts, the counted tokens, and the title with each method. */
async function converse(settings, words, tools = []) {
  const usages = [];
  const { contentParts, aggregateContent } = createContentAggregator();
  const showing = told.map((name) => {
    const event = GraphEvents[name];
    return [event, { handle: (_event, data) => aggregateContent({ event, data }) }];
  });
  const customHandlers = {
    [GraphEvents.TOOL_END]: new ToolEndHandler(),
    [GraphEvents.CHAT_MODEL_END]: new ModelEndHandler(usages),
    [GraphEvents.CHAT_MODEL_STREAM]: new ChatModelStreamHandler(),
    ...Object.fromEntries(showing),
  };
  const runId = randomUUID();
  const graphConfig = { type: 'standard', instructions: 'Be brief.', llmConfig: settings, tools };
  const run = await Run.create({ runId, graphConfig, returnContent: true, customHandlers });
  const configurable = { thread_id: runId, user_id: 'a-user' };
  await run.processStream({ messages: [new HumanMessage(words)] }, { runId, configurable, streamMode: 'values', version: 'v2' });
  return { parts: contentParts.filter(Boolean), usages, run };
}

async function chat(settings) {
  const { parts, usages, run } = await converse(settings, 'Say hello');
  assert.deepEqual(parts, [{ type: 'text', text: 'Hello from the mock.' }]);
  assert.deepEqual([usages[0].input_tokens, usages[0].output_tokens], [11, 13]);
  const clientOptions = { ...settings, streaming: false, maxTokens: 75 };
  const asking = { provider: Providers.OPENAI, inputText: 'Say hello', contentParts: parts, clientOptions };
  for (const titleMethod of Object.values(TitleMethod)) {
    const made = await run.generateTitle({ ...asking, titleMethod, chainOptions: { configurable: { thread_id: 'a-talk' } } });
    assert.equal(made.title, 'A Greeting', titleMethod);
  }
}

async function tools(settings) {
  const { parts } = await converse(settings, 'weather in Paris', [getWeather]);
  const [{ tool_call: called }, answer] = parts;
  assert.deepEqual([called.name, JSON.parse(called.args), called.output], ['get_weather', { city: 'Paris' }, 'sunny in Paris']);
  assert.equal(answer.text, 'It is sunny in Paris.');
}

async function thoughts(settings) {
  const { parts } = await converse({ ...settings, reasoning: { effort: 'low', summary: 'auto' } }, 'please think');
  assert.equal(parts.at(-1).text, 'So it is.');
  // A quick app does not return the reasoning of its model.
  assert.deepEqual(parts[0], { type: 'think', think: 'Let me think.' });
}

async function errors(settings) {
  await assert.rejects(converse(settings, 'overloaded'), /The mock is overloaded/);
  await assert.rejects(converse({ ...settings, model: 'gone' }, 'Say hello'), /gone/);
}

function fail(name, error) {
  process.exitCode = 1;
  process.stderr.write(`${name}: ${String(error?.stack ?? error).slice(0, 600)}\n`);
}

for (const [at, endpoint] of known.endpoints.custom.entries()) {
  const unknown = Object.keys(config.endpoints.custom[at]).filter((field) => !(field in endpoint));
  assert.deepEqual(unknown, [], `LibreChat does not know these fields of ${endpoint.name}`);
  assert.ok(endpoint.models.fetch);
  const headers = { authorization: `Bearer ${extractEnvVariable(endpoint.apiKey)}` };
  const { data } = await (await fetch(`${endpoint.baseURL}/models`, { headers })).json();
  const models = data.map(({ id }) => id);
  for (const model of deployments) {
    assert.ok(models.includes(model), `${model} is not among ${models}`);
    for (const run of [chat, tools, thoughts, errors])
      await run(settingsOf(endpoint, model)).catch((error) => fail(`${run.name} of ${model} by ${endpoint.name}`, error));
  }
}
