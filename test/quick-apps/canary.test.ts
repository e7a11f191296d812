import { afterAll, beforeAll, expect, it } from 'vitest';
import { getBucket } from '#test/buckets.ts';
import { type ScriptedUpstream, startScriptedUpstream, type UpstreamExchange } from '#test/scripted-upstream.ts';
import { startProcess, type TestProcess } from '#test/start-process.ts';
import { withKey } from '#test/start-service.ts';
import { calls, quickApp, says, user } from './support.ts';

/** Part of every secret. Basic credentials contain it in base64. */
const canary = 'canary-5e1f09';
const canaryPattern = new RegExp(`${canary}|${Buffer.from(`ann:${canary}`).toString('base64').slice(0, 20)}`);

let api: ScriptedUpstream;
let model: ScriptedUpstream;
let node: TestProcess;

/** Echoes the request, breaks the connection, or rejects the request. */
function echoRequest({ received, response }: UpstreamExchange): void {
  if (received.path.startsWith('/cut')) return void response.destroy();
  const echo = JSON.stringify({ url: received.path, headers: received.headers, body: received.text });
  response.writeHead(/^\/(token|refused)/.test(received.path) ? 401 : 200, { 'content-type': 'application/json' }).end(echo);
}

const authorizations = () => ({
  header: { type: 'api_key', key: `${canary}-header`, name: 'X-Key', location: 'header' },
  query: { type: 'api_key', key: `${canary} query`, name: 'key', location: 'query' },
  body: { type: 'api_key', key: `${canary}-body`, name: 'key', location: 'body' },
  basic: { type: 'basic', username: 'ann', password: canary },
  bearer: { type: 'bearer', token: `${canary}-bearer` },
  client: { type: 'client_id_secret', client_id: 'client', client_secret: `${canary}-client`, token_url: `${api.url}/token` },
});

function createToolset([name, authorization]: [string, object]): object {
  const toTool = (path: string) => ({
    rest_api_method_info: { method_url: `${api.url}/${path}`, method_type: name === 'body' ? 'post' : 'get' },
    open_ai_tool: { type: 'function', function: { name: `${name}_${path}`, description: '', parameters: {} } },
  });
  return { type: 'rest-api', name, authorization, tools: ['told', 'cut', 'refused'].map(toTool) };
}

function createProperties(): object {
  const endpoint = { name: 'obsolete_told', method_url: `${api.url}/told`, method_type: 'get', description: '', parameters: [] };
  const obsolete = { tool_endpoints: [endpoint], auth_info: { auth_type: 'apikey', api_key: `${canary}-obsolete` } };
  const server = {
    url: `${api.url}/mcp`,
    protocol: 'streamable_http',
    authorization: { type: 'bearer', token: `${canary}-mcp` },
  };
  return {
    web_api_toolset: [...Object.entries(authorizations()).map(createToolset), obsolete],
    mcp_toolset: [{ type: 'mcp', name: 'mcp', mcp_server_info: server }],
  };
}

const allCalls = ['header', 'query', 'body', 'basic', 'bearer', 'client'].flatMap((name) =>
  ['told', 'cut', 'refused'].map((path) => [`${name}_${path}`, {}] as const),
);

beforeAll(async () => {
  api = await startScriptedUpstream(echoRequest);
  model = await startScriptedUpstream(calls(...allCalls, ['obsolete_told', {}]), says('Done.'));
  node = await startProcess({
    configuration: {
      models: { model: { upstreams: [{ endpoint: model.endpoint, key: `${canary}-model` }] } },
      applications: { app: quickApp(createProperties()) },
      security: { allowPrivateNetworks: ['127.0.0.1'] },
    },
    environment: { LOG_LEVEL: 'trace' },
  });
});

afterAll(async () => {
  await node[Symbol.asyncDispose]();
  await model.close();
  await api.close();
});

/** Returns the text of a response, followed by the decoded states in it. */
function decodeStates(text: string): string {
  const states = [...text.matchAll(/"parley_run":"([\w-]+)/g)].map(([, state = '']) =>
    Buffer.from(state, 'base64url').toString(),
  );
  return [text, ...states].join('\n');
}

const ownId = `applications/${getBucket('key:test')}/mine`;

it('no secret of a quick app appears in replies, stages, states, model requests, listings, exports, errors, or logs', async () => {
  const saveResponse = await node.sendRequest({
    method: 'PUT',
    path: `/v1/${ownId}`,
    headers: withKey(),
    body: quickApp(createProperties()),
  });
  expect(saveResponse.status).toBe(201);
  const texts: string[] = [saveResponse.text];
  for (const id of ['app', ownId]) {
    model.script(
      calls(...allCalls, ['obsolete_told', {}]),
      says('Done.'),
      calls(...allCalls, ['obsolete_told', {}]),
      says('Done.'),
    );
    const reply = await node.chat(id, { messages: [user('Call all.')] });
    expect([reply.status, reply.completion.choices[0]?.message.content]).toEqual([200, 'Done.']);
    expect(reply.completion.choices[0]?.message.custom_content?.stages?.length).toBeGreaterThanOrEqual(allCalls.length + 1);
    const result = await (await node.stream(id, { messages: [user('Call all.')] })).readRest();
    texts.push(reply.text, result.data.join('\n'));
  }
  const invalid = { ...quickApp(createProperties()), displayname: canary.slice(0, 3) };
  const paths = [
    ...[
      '/openai/deployments',
      '/openai/applications',
      '/v1/models',
      `/v1/applications/${getBucket('key:test')}/`,
      `/v1/${ownId}`,
    ],
    ...['/v1/deployments/app/configuration', '/v1/consent/app', '/health', '/metrics', '/openapi.json'],
  ];
  for (const path of paths) texts.push((await node.sendRequest({ method: 'GET', path, headers: withKey() })).text);
  texts.push((await node.sendRequest({ method: 'PUT', path: `/v1/${ownId}`, headers: withKey(), body: invalid })).text);
  await node.configure({ applications: { app: { ...quickApp(createProperties()), displayname: 'x' } } });
  await node.untilOutput(/configuration rejected/);
  texts.push(node.output.stdout, node.output.stderr, ...model.requests.map(({ text }) => text));
  for (const text of texts) expect(decodeStates(text)).not.toMatch(canaryPattern);
  // Control: the servers received the secrets and returned them.
  expect(model.requests.map(({ text }) => text).join()).toContain('Basic ***');
  const requestTexts = api.requests.map(({ path, headers, text }) => JSON.stringify([decodeURIComponent(path), headers, text]));
  expect(requestTexts.filter((text) => canaryPattern.test(text)).length).toBeGreaterThan(allCalls.length);
});
