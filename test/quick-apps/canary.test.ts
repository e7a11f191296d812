import { afterAll, beforeAll, expect, it } from 'vitest';
import { getBucket } from '#test/buckets.ts';
import { type Answering, type ScriptedUpstream, startScriptedUpstream } from '#test/scripted-upstream.ts';
import { startProcess, type TestProcess } from '#test/start-process.ts';
import { withKey } from '#test/start-service.ts';
import { calls, quickApp, says, user } from './support.ts';

/** Stands in every secret; basic credentials carry it in base64. */
const canary = 'canary-5e1f09';
const found = new RegExp(`${canary}|${Buffer.from(`ann:${canary}`).toString('base64').slice(0, 20)}`);

let api: ScriptedUpstream;
let model: ScriptedUpstream;
let node: TestProcess;

/** A server that tells everything it was sent, breaks off, refuses, or gives no token. */
function betray({ received, response }: Answering): void {
  if (received.path.startsWith('/cut')) return void response.destroy();
  const said = JSON.stringify({ url: received.path, headers: received.headers, body: received.text });
  response.writeHead(/^\/(token|refused)/.test(received.path) ? 401 : 200, { 'content-type': 'application/json' }).end(said);
}

const authorizations = () => ({
  header: { type: 'api_key', key: `${canary}-header`, name: 'X-Key', location: 'header' },
  query: { type: 'api_key', key: `${canary} query`, name: 'key', location: 'query' },
  body: { type: 'api_key', key: `${canary}-body`, name: 'key', location: 'body' },
  basic: { type: 'basic', username: 'ann', password: canary },
  bearer: { type: 'bearer', token: `${canary}-bearer` },
  client: { type: 'client_id_secret', client_id: 'client', client_secret: `${canary}-client`, token_url: `${api.url}/token` },
});

function toolset([name, authorization]: [string, object]): object {
  const toTool = (path: string) => ({
    rest_api_method_info: { method_url: `${api.url}/${path}`, method_type: name === 'body' ? 'post' : 'get' },
    open_ai_tool: { type: 'function', function: { name: `${name}_${path}`, description: '', parameters: {} } },
  });
  return { type: 'rest-api', name, authorization, tools: ['told', 'cut', 'refused'].map(toTool) };
}

function properties(): object {
  const endpoint = { name: 'obsolete_told', method_url: `${api.url}/told`, method_type: 'get', description: '', parameters: [] };
  const obsolete = { tool_endpoints: [endpoint], auth_info: { auth_type: 'apikey', api_key: `${canary}-obsolete` } };
  const server = {
    url: `${api.url}/mcp`,
    protocol: 'streamable_http',
    authorization: { type: 'bearer', token: `${canary}-mcp` },
  };
  return {
    web_api_toolset: [...Object.entries(authorizations()).map(toolset), obsolete],
    mcp_toolset: [{ type: 'mcp', name: 'mcp', mcp_server_info: server }],
  };
}

const all = ['header', 'query', 'body', 'basic', 'bearer', 'client'].flatMap((name) =>
  ['told', 'cut', 'refused'].map((path) => [`${name}_${path}`, {}] as const),
);

beforeAll(async () => {
  api = await startScriptedUpstream(betray);
  model = await startScriptedUpstream(calls(...all, ['obsolete_told', {}]), says('Done.'));
  node = await startProcess({
    configuration: {
      models: { model: { upstreams: [{ endpoint: model.endpoint, key: `${canary}-model` }] } },
      applications: { app: quickApp(properties()) },
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

/** Replies and what their states hold. */
function readable(text: string): string {
  const states = [...text.matchAll(/"parley_run":"([\w-]+)/g)].map(([, state = '']) =>
    Buffer.from(state, 'base64url').toString(),
  );
  return [text, ...states].join('\n');
}

const mine = `applications/${getBucket('key:test')}/mine`;

it('no secret of a quick app reaches a reply, its stages and state, a model, a listing, an export, an error or the log', async () => {
  const saved = await node.sendRequest({ method: 'PUT', path: `/v1/${mine}`, headers: withKey(), body: quickApp(properties()) });
  expect(saved.status).toBe(201);
  const seen: string[] = [saved.text];
  for (const id of ['app', mine]) {
    model.script(calls(...all, ['obsolete_told', {}]), says('Done.'), calls(...all, ['obsolete_told', {}]), says('Done.'));
    const whole = await node.chat(id, { messages: [user('Call all.')] });
    expect([whole.status, whole.completion.choices[0]?.message.content]).toEqual([200, 'Done.']);
    expect(whole.completion.choices[0]?.message.custom_content?.stages?.length).toBeGreaterThanOrEqual(all.length + 1);
    const streamed = await (await node.stream(id, { messages: [user('Call all.')] })).readRest();
    seen.push(whole.text, streamed.data.join('\n'));
  }
  const faulty = { ...quickApp(properties()), displayname: canary.slice(0, 3) };
  const paths = [
    ...['/openai/deployments', '/openai/applications', '/v1/models', `/v1/applications/${getBucket('key:test')}/`, `/v1/${mine}`],
    ...['/v1/deployments/app/configuration', '/v1/consent/app', '/health', '/metrics', '/openapi.json'],
  ];
  for (const path of paths) seen.push((await node.sendRequest({ method: 'GET', path, headers: withKey() })).text);
  seen.push((await node.sendRequest({ method: 'PUT', path: `/v1/${mine}`, headers: withKey(), body: faulty })).text);
  await node.configure({ applications: { app: { ...quickApp(properties()), displayname: 'x' } } });
  await node.untilOutput(/configuration refused/);
  seen.push(node.output.stdout, node.output.stderr, ...model.requests.map(({ text }) => text));
  for (const text of seen) expect(readable(text)).not.toMatch(found);
  // They were there to be seen: the servers have got them, and told them.
  expect(model.requests.map(({ text }) => text).join()).toContain('Basic ***');
  const sent = api.requests.map(({ path, headers, text }) => JSON.stringify([decodeURIComponent(path), headers, text]));
  expect(sent.filter((text) => found.test(text)).length).toBeGreaterThan(all.length);
});
