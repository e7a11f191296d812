import type { OpenApiDocument } from '#test/documented.ts';
import { sendRequest } from '#test/send-request.ts';
import { callerKey, getChatPath } from '#test/start-service.ts';
import { requireSane, toConfiguration } from '../fuzz/fuzz-routes.ts';
import type { RouteInput } from '../fuzz/route-inputs.ts';
import { runInputs, toKind } from '../fuzz/run-inputs.ts';
import { Wire } from '../fuzz/wire.ts';
import { Random } from '../random.ts';
import type { Scenario } from '../scenario.ts';
import { eachConcurrently } from '../support/each-concurrently.ts';
import { requireSettled, startWatched } from '../support/watched-node.ts';
import { framed, type Step } from '../upstreams/fault.ts';
import { createUpstream, vectorsReply } from '../upstreams/good-replies.ts';
import { type HostileRequest, startHostileUpstream } from '../upstreams/hostile-upstream.ts';
import { drawServer } from './hostile-mcp.ts';
import { drawCalls, drawReply, type Form, forms } from './hostile-replies.ts';
import { TextInputs } from './text-inputs.ts';

const maxAnswerMs = 15_000;
const shortInputs = 400;
const warmingInputs = 300;
const firstWarming = 10_000_000;
const noted = (): void => undefined;
/**
 * The kinds with the upper end of their share, from 0 to 1, and the fraction of large inputs of each kind. An MCP input takes ten
 * times as long as a route input, and a large input takes up to 100 times as long. A million inputs include at least 2,000 large
 * ones of each kind.
 */
const kinds = [
  { kind: 'route', end: 0.42, largeShare: 0.05 },
  { kind: 'header', end: 0.83, largeShare: 0.1 },
  { kind: 'reply', end: 0.97, largeShare: 0.02 },
  { kind: 'mcp', end: 1, largeShare: 0.07 },
] as const;
/**
 * Models whose upstreams reply only with 429. Otherwise, such replies would stop the calls to other upstreams for half a minute.
 */
const limited = forms.map((form) => `${form}-limited`);
const limitedShare = 0.02;
const surfaces = ['chat', 'messages', 'responses'] as const;
const timeouts = { connectMs: 5_000, firstByteMs: 5_000, idleMs: 5_000 };

/** Hostile text in requests, and in replies of upstreams, applications, and MCP servers. */
export const hostileText: Scenario = {
  name: 'hostile-text',
  title: 'Hostile text in requests and in replies',
  weight: 4,
  async run(ground) {
    const seed = ground.random.below(2 ** 20);
    await using upstream = await startHostileUpstream((request) => toReply(request, seed));
    await using node = await startWatched({ configuration: configure(upstream.url) });
    const described = await sendRequest(node.url, { method: 'GET', path: '/openapi.json' });
    const texts = new TextInputs(described.json as OpenApiDocument, callerKey);
    const inputAt = (index: number): RouteInput => {
      const { kind, isLarge } = kindAt(index);
      if (kind === 'reply') return drawReplyInput(seed, index);
      if (kind === 'mcp') return drawServerInput(seed, index, upstream.url);
      return texts.draw({ kind, isLarge }, randomAt(seed, index));
    };
    const wire = new Wire(node.url);
    const send = async (index: number): Promise<string> => {
      const { title, isHead, bytes } = inputAt(index);
      const answer = await wire.send(bytes, { isHead, maxMs: maxAnswerMs }).catch((error: Error) => {
        throw new Error(`${title}: ${error.message}`);
      });
      if (answer.body.includes('"internal_error"')) throw new Error(`${title}: ${answer.status} ${answer.body.slice(0, 300)}`);
      // A hostile reply counts as an upstream error.
      if (answer.status === 500 && /"upstream_failed"|The reply contains a tool call|The upstream/.test(answer.body))
        return `${kindAt(index).kind} upstream errors`;
      // The scenario needs only the built service, not the page.
      if (!answer.body.startsWith('The page is not built')) requireSane(title, answer);
      return `${kindAt(index).kind} ${toKind(answer.status)}`;
    };
    // The first calls load modules and compile schemas. They are not part of the measurement.
    const warming = Array.from({ length: warmingInputs }, (_, index) => firstWarming + index);
    await eachConcurrently(warming, 12, (index) => send(index).then(noted, noted));
    const before = await node.collectAndRead();
    const count = ground.inputs ?? (ground.isShort ? shortInputs : undefined);
    await runInputs({ ...ground, inputs: count }, node, { send, titleAt: (index) => inputAt(index).title });
    wire.close();
    await requireSettled(node, before, ground.tally);
  },
};

interface Kind {
  readonly kind: (typeof kinds)[number]['kind'];
  readonly isLarge: boolean;
}

/** Returns the kind of an input. It is the same for all seeds. */
function kindAt(index: number): Kind {
  const random = new Random(index * 2_654_435);
  const position = random.next();
  const { kind, largeShare } = kinds.find(({ end }) => position < end) ?? kinds[0];
  return { kind, isLarge: random.chance(largeShare) };
}

function randomAt(seed: number, index: number): Random {
  return new Random(seed * 1_000_003 + index);
}

function configure(url: string): object {
  const base = toConfiguration(`${url}/openai`) as { readonly models: object; readonly applications: object };
  const models = [...forms, ...limited].map((name) => {
    const form = toForm(name);
    const { model, upstream } = createUpstream(form === 'responses' ? 'openai' : form, `${url}/${name.replace('-', '/')}`);
    return [
      name,
      {
        ...model,
        maxRetryAttempts: 1,
        upstreams: [{ ...upstream, timeouts, ...(form === 'responses' && { api: 'responses' }) }],
      },
    ];
  });
  return {
    ...base,
    models: { ...base.models, ...Object.fromEntries(models) },
    applications: { ...base.applications, app: { endpoint: `${url}/dial/app`, dependencies: ['demo'] } },
    identityProviders: { sso: { issuer: 'https://id.test', jwksUrl: 'https://id.test/jwks', audience: 'parley' } },
    responses: { mcpServers: ['127.0.0.1'] },
    security: { allowPrivateNetworks: ['127.0.0.1'] },
  };
}

/** Draws a valid request of one surface to a deployment. The number also determines the reply of the upstream. */
function drawReplyInput(seed: number, index: number): RouteInput {
  const random = randomAt(seed, index);
  const [surface, isStream] = [random.pick(surfaces), random.chance(0.7)];
  const deployment = drawDeployment(random);
  const isLimited = limited.includes(deployment);
  const { title } = drawReply(toForm(deployment), { isStream, isLarge: kindAt(index).isLarge, isLimited }, random);
  return toPost(`reply to ${surface} by ${deployment}, ${title}`, { surface, deployment, isStream, index });
}

function drawDeployment(random: Random): string {
  return random.pick(random.chance(limitedShare) ? limited : [...forms, 'app']);
}

function toForm(deployment: string): Form {
  return forms.find((form) => form === deployment.split('-')[0]) ?? 'dial';
}

/** Draws a valid request that makes the service call a hostile MCP server. */
function drawServerInput(seed: number, index: number, url: string): RouteInput {
  const random = randomAt(seed, index);
  const use = random.pick(['list', 'run', 'responses'] as const);
  const { title, isSse } = drawServer(random, kindAt(index).isLarge);
  const address = `${url}/mcp/${index}`;
  const toolset = { type: 'mcp', name: 'T', mcp_server_info: { url: address, protocol: isSse ? 'sse' : 'streamable_http' } };
  if (use === 'list')
    return toRequest(`mcp list, ${title}`, '/v1/tools/list', { toolset: { ...toolset, resources: true, prompts: true } });
  const args = { city: `${'a'.repeat(random.pick([30, 20_000]))}!`, list: ['aa'], more: 'x' };
  if (use === 'run') return toRequest(`mcp run, ${title}`, '/v1/tools/run', { toolset, tool: 'look', arguments: args });
  const server = { type: 'mcp', server_label: 'T', server_url: address, require_approval: 'never' };
  return toRequest(`mcp responses, ${title}`, '/v1/responses', {
    model: 'openai',
    input: `Hi #${index}#`,
    stream: random.chance(0.5),
    tools: [server],
  });
}

interface Post {
  readonly surface: (typeof surfaces)[number];
  readonly deployment: string;
  readonly isStream: boolean;
  readonly index: number;
}

function toPost(title: string, { surface, deployment: model, isStream: stream, index }: Post): RouteInput {
  const content = `Hi #${index}#`;
  const messages = [{ role: 'user', content }];
  if (surface === 'chat') return toRequest(title, getChatPath(model), { messages, stream });
  if (surface === 'messages') return toRequest(title, '/msgapi/v1/messages', { model, max_tokens: 50, messages, stream });
  return toRequest(title, '/v1/responses', { model, input: content, stream });
}

function toRequest(title: string, path: string, body: object): RouteInput {
  const text = JSON.stringify(body);
  const fields = [
    'host: x',
    `api-key: ${callerKey}`,
    'content-type: application/json',
    `content-length: ${Buffer.byteLength(text)}`,
  ];
  return { title, isHead: false, bytes: Buffer.from(`POST ${path} HTTP/1.1\r\n${fields.join('\r\n')}\r\n\r\n${text}`) };
}

/** Returns the reply to a request. It depends only on the number of the request or, without a number, on its text. */
function toReply(request: HostileRequest, seed: number): readonly Step[] {
  const { path, body } = request;
  const server = /^\/mcp\/(\d+)/.exec(path)?.[1];
  if (server !== undefined) {
    const random = randomAt(seed, Number(server));
    random.pick([1, 2, 3]);
    return drawServer(random, kindAt(Number(server)).isLarge).reply(request);
  }
  if (path.endsWith('/embeddings'))
    return framed({ contentType: 'application/json', pieces: [Buffer.from(JSON.stringify(vectorsReply))], isStream: false });
  const isStream = /"stream":\s*true/.test(body) || /stream/i.test(path.split('?')[0] ?? '');
  const form = toForm(path.split('/')[1] ?? '');
  const inputNumber = /#(\d+)#/.exec(body)?.[1];
  const index = Number(inputNumber ?? 0);
  const { kind, isLarge } = kindAt(index);
  if (inputNumber === undefined || kind === 'mcp') return toModelReply(form, isStream, { body, index });
  const random = randomAt(seed, index);
  // Repeats the draws of the request, which precede the draws of the reply.
  random.pick(surfaces);
  random.chance(0.7);
  const isLimited = limited.includes(drawDeployment(random));
  return drawReply(form, { isStream, isLarge, isLimited }, random).steps();
}

/** Fraction of large replies to requests without a number. */
const largeModelShare = 0.01;

/** Creates a model reply that calls each offered tool once. Other replies are hostile. */
function toModelReply(
  form: Form,
  isStream: boolean,
  { body, index }: { readonly body: string; readonly index: number },
): readonly Step[] {
  const random = new Random(body.length * 31 + (body.at(-20)?.charCodeAt(0) ?? 0) + index);
  const replyForm = { isStream, isLarge: random.chance(largeModelShare), isLimited: false };
  const names = [...body.matchAll(/"function":\{"name":"([^"\\]{1,64})"/g)].flatMap(([, name]) => name ?? []);
  const isCalled = body.includes('"role":"tool"');
  return names.length === 0 || isCalled || form !== 'openai'
    ? drawReply(form, replyForm, random).steps()
    : drawCalls(names, replyForm, random);
}
