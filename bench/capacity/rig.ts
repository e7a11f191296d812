import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Redis } from 'ioredis';
import pg from 'pg';
import { startPostgres } from '#test/start-postgres.ts';
import { startProcess, type TestProcess } from '#test/start-process.ts';
import { startRedis } from '#test/start-redis.ts';
import { readUsage } from '../measure.ts';
import { buildNativeTools } from '../native-tools.ts';
import { findFreePort } from '../processes.ts';
import { toRawRequest } from '../requests.ts';
import { toSpread } from '../statistics.ts';
import { type Storage, subtractWork, type Work } from './costs.ts';

const bench = dirname(dirname(fileURLToPath(import.meta.url)));

/** Streaming of an upstream: number of chunks (0: until the client disconnects) and their interval. */
const upstreams = {
  short: { chunks: 10, intervalMs: 0 },
  long: { chunks: 210, intervalMs: 0 },
  paced: { chunks: 0, intervalMs: 50 },
  slow: { chunks: 0, intervalMs: 5_000 },
} as const;
export const pacedIntervalMs = upstreams.paced.intervalMs;

/** Share of calls that may end after the window. */
const maxLateShare = 0.02;
const maxAttempts = 3;
const sampleMs = 250;

const key = 'bench-key';
const unlimitedKey = 'bench-unlimited';

/** A call that the load generator repeats. */
export interface PlannedCall {
  readonly path: string;
  readonly body: object;
  readonly key?: string;
}

/** Result of one run of the load generator. */
interface LoadOutput {
  readonly seconds: number;
  readonly replies: number;
  readonly errors: number;
  readonly events: number;
  readonly firstError: string;
  readonly flowing: number;
  readonly latency: { readonly p50: number; readonly p99: number };
  readonly firstChunk: { readonly p50: number; readonly p99: number };
}

/** Work and memory in the window of one run. */
export interface LoadMeasurement {
  readonly seconds: number;
  readonly replies: number;
  readonly events: number;
  readonly work: Work;
  /** Median of the resident memory of all nodes in bytes. */
  readonly residentBytes: number;
  /** Resident memory in the pause of a stream run, after its first step. */
  readonly stepBytes: number;
  readonly result: LoadOutput;
}

/** Nodes with their upstream and stores, for loads of the native load generator. */
export class Rig implements AsyncDisposable {
  readonly nodes: TestProcess[] = [];
  readonly #load: string;
  readonly #folder = mkdtempSync(join(tmpdir(), 'parley-capacity-'));
  readonly #closing: (() => unknown)[] = [];
  #redis: Redis | undefined;
  #sql: pg.Client | undefined;
  #sqlPid = 0;

  private constructor(load: string) {
    this.#load = load;
  }

  /** Starts nodes on a storage. `workers` is the number of workers of each node. */
  static async start(
    storage: Storage,
    { count = 1, workers = 1, program = join(dirname(bench), 'bin/parley') } = {},
  ): Promise<Rig> {
    const tools = buildNativeTools(bench);
    const rig = new Rig(tools.load);
    const ports = await rig.#startUpstream(tools.upstream);
    const world = await startToolWorld();
    rig.#closing.push(() => world.server.close());
    const environment = storage === 'shared' ? await rig.#startStores() : {};
    const configuration = toConfiguration(ports, world.url);
    const flags = ['--workers', String(workers)];
    for (let index = 0; index < count; index += 1)
      rig.nodes.push(await startProcess({ configuration, environment, flags, program }));
    return rig;
  }

  async #startUpstream(program: string): Promise<Record<keyof typeof upstreams, number>> {
    const ports = {} as Record<keyof typeof upstreams, number>;
    for (const name of Object.keys(upstreams) as (keyof typeof upstreams)[]) ports[name] = await findFreePort();
    const args = Object.entries(upstreams).map(
      ([name, { chunks, intervalMs }]) => `${ports[name as keyof typeof upstreams]}:${chunks}:${intervalMs * 1000}`,
    );
    const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'] });
    this.#closing.push(() => child.kill());
    for await (const line of createInterface({ input: child.stdout })) if (line.includes('ready')) break;
    return ports;
  }

  async #startStores(): Promise<Record<string, string>> {
    const [redis, postgres] = await Promise.all([startRedis(), startPostgres('shared_buffers=128MB')]);
    this.#redis = new Redis(redis.url);
    this.#sql = new pg.Client(postgres.url);
    await this.#sql.connect();
    const { rows } = await this.#sql.query("select pid from pg_stat_activity where backend_type = 'checkpointer'");
    this.#sqlPid = readParent(Number(rows[0]?.pid));
    this.#closing.push(
      () => this.#redis?.disconnect(),
      () => this.#sql?.end(),
      () => redis[Symbol.asyncDispose](),
      () => postgres[Symbol.asyncDispose](),
    );
    return {
      PARLEY_DATABASE_URL: postgres.url,
      PARLEY_REDIS_URL: redis.url,
      PARLEY_SECRET: randomBytes(32).toString('hex'),
    };
  }

  /** Same as `runOnce`, with up to three attempts. An attempt fails if other programs delay its calls for too long. */
  async run(...args: Parameters<Rig['runOnce']>): Promise<LoadMeasurement> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.runOnce(...args);
      } catch (error) {
        if (attempt === maxAttempts) throw error;
      }
    }
  }

  /** Repeats a call on all nodes, each with its own load generator, and measures the window. `args` are its flags. */
  async runOnce(
    call: PlannedCall,
    args: readonly (string | number)[],
    { isStream = false, events = 1 } = {},
  ): Promise<LoadMeasurement> {
    const streaming = isStream ? ['--stream', '1', '--events', String(events)] : [];
    const children = this.nodes.map(({ url }, index) => {
      const file = join(this.#folder, `request-${index}`);
      writeFileSync(file, toRawRequest(call.path, { 'Api-Key': call.key ?? key }, JSON.stringify(call.body)));
      const target = ['--port', new URL(url).port, '--request', file];
      return spawn(this.#load, [...args.map(String), ...target, ...streaming], { stdio: ['ignore', 'pipe', 'inherit'] });
    });
    const windows = await Promise.all(children.map((child, index) => this.#watch(child, index === 0)));
    const start = windows[0]?.start;
    const end = windows[0]?.end;
    const results = windows.map(({ result }) => result);
    const [result] = results;
    // On a slow disk, a few stored calls end after the window.
    const failed = results.find(({ errors, replies }) => errors > replies * maxLateShare);
    if (result === undefined || start === undefined || end === undefined || failed !== undefined)
      throw new Error(`the load failed: ${failed?.firstError}`);
    const sum = (key: 'replies' | 'events') => results.reduce((all, result) => all + result[key], 0);
    return {
      seconds: result.seconds,
      replies: sum('replies'),
      events: sum('events'),
      work: subtractWork(end, start),
      residentBytes: windows[0]?.residentBytes ?? 0,
      stepBytes: windows[0]?.stepBytes ?? 0,
      result,
    };
  }

  /** Reads the work at the edges of the window of one load generator, if it is the first one. */
  async #watch(child: ChildProcess, isFirst: boolean) {
    let [start, end] = [undefined, undefined] as [Work | undefined, Work | undefined];
    let stepBytes = 0;
    const samples: number[] = [];
    let sampling: NodeJS.Timeout | undefined;
    let result: LoadOutput | undefined;
    if (child.stdout === null) throw new Error('the load generator has no output');
    for await (const line of createInterface({ input: child.stdout })) {
      const message = JSON.parse(line) as { readonly mark?: string; readonly result?: LoadOutput };
      if (isFirst && message.mark === 'window-start') {
        sampling = setInterval(() => samples.push(this.readMemory()), sampleMs);
        start = await this.readWork();
      }
      if (message.mark === 'step-end') stepBytes = this.readMemory();
      if (isFirst && message.mark === 'window-end') {
        clearInterval(sampling);
        end = await this.readWork();
      }
      result = message.result ?? result;
    }
    if (result === undefined) throw new Error('the load generator gave no result');
    return { start, end, stepBytes, residentBytes: toSpread(samples)?.median ?? 0, result };
  }

  /** Returns the resident memory of all nodes in bytes. */
  readMemory(): number {
    return this.nodes.reduce((sum, { pid }) => sum + readUsage(pid).rssBytes, 0);
  }

  async readWork(): Promise<Work> {
    const info = (await this.#redis?.info('all')) ?? '';
    const readCounter = (name: string): number => Number(new RegExp(`^${name}:([\\d.]+)`, 'm').exec(info)?.[1] ?? 0);
    const { rows } = (await this.#sql?.query(
      "select sum(xact_commit + xact_rollback) as transactions, pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0') as wal from pg_stat_database",
    )) ?? { rows: [] };
    return {
      nodeMicros: this.nodes.reduce((sum, { pid }) => sum + readUsage(pid).cpuMicros, 0),
      redisMicros: (readCounter('used_cpu_user') + readCounter('used_cpu_sys')) * 1e6,
      redisCommands: readCounter('total_commands_processed'),
      sqlMicros: this.#sqlPid === 0 ? 0 : readUsage(this.#sqlPid).cpuMicros,
      sqlTransactions: Number(rows[0]?.transactions ?? 0),
      walBytes: Number(rows[0]?.wal ?? 0),
    };
  }

  /** Measures the work of the idle nodes and their stores. */
  async measureIdle(seconds: number): Promise<Work> {
    const before = await this.readWork();
    await sleep(seconds * 1000);
    return subtractWork(await this.readWork(), before);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const node of this.nodes) await node[Symbol.asyncDispose]();
    for (const close of this.#closing) await close();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

function readParent(pid: number): number {
  const status = process.getBuiltinModule('node:fs').readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/^PPid:\s+(\d+)/m.exec(status)?.[1]);
}

function toConfiguration(ports: Record<keyof typeof upstreams, number>, world: string): object {
  const toModel = (port: number, fields: object = {}) => ({
    upstreams: [{ endpoint: `http://127.0.0.1:${port}/v1`, key: 'sk-upstream', ...fields }],
  });
  const tool = {
    rest_api_method_info: { method_url: `${world}/tool`, method_type: 'get' },
    open_ai_tool: {
      type: 'function',
      function: {
        name: 'look_up',
        description: 'Looks up.',
        parameters: { type: 'object', properties: { q: { type: 'string' } } },
      },
    },
  };
  const applicationProperties = {
    ...{ temperature: 0, instructions: 'Use the tool.', model: 'tool-model' },
    web_api_toolset: [{ type: 'rest-api', name: 'API', tools: [tool] }],
  };
  return {
    models: {
      short: toModel(ports.short),
      long: toModel(ports.long),
      paced: toModel(ports.paced),
      slow: toModel(ports.slow),
      claude: toModel(ports.short, { protocol: 'anthropic' }),
      responses: toModel(ports.short, { api: 'responses' }),
      'tool-model': { upstreams: [{ endpoint: `${world}/v1` }] },
    },
    applications: {
      app: { applicationTypeSchemaId: 'https://bench/custom_application_schemas/quickapps', applicationProperties },
    },
    keys: { [key]: { project: 'bench', role: 'limited' }, [unlimitedKey]: { project: 'free' } },
    roles: { default: {}, limited: { limits: { '*': { minute: 1_000_000_000_000, requestMinute: 1_000_000_000 } } } },
    security: { allowPrivateNetworks: ['127.0.0.1'] },
  };
}

const bare = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'm' };
const usage = { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 };
const toEvent = (value: object) => `data: ${JSON.stringify({ ...bare, ...value })}\n\n`;
const toEvents = (delta: object, reason: string) =>
  `${toEvent({ choices: [{ index: 0, delta, finish_reason: null }] })}${toEvent({ choices: [{ index: 0, delta: {}, finish_reason: reason }] })}${toEvent({ choices: [], usage })}data: [DONE]\n\n`;

/** Starts a model that calls a tool once, and the tool. */
async function startToolWorld(): Promise<{ server: Server; url: string }> {
  const call = { index: 0, id: 'call_1', type: 'function', function: { name: 'look_up', arguments: '{"q":"x"}' } };
  const server = createServer(async (request, response) => {
    if (request.url?.startsWith('/tool')) {
      response.writeHead(200, { 'content-type': 'application/json' });
      return response.end('{"rows":[{"text":"A line of the result."}]}');
    }
    const body = await text(request);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const isFirst = !body.includes('"role":"tool"');
    return response.end(
      isFirst ? toEvents({ role: 'assistant', tool_calls: [call] }, 'tool_calls') : toEvents({ content: 'Done.' }, 'stop'),
    );
  });
  server.keepAliveTimeout = 60_000;
  const port = await findFreePort();
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return { server, url: `http://127.0.0.1:${port}` };
}

const messages = [
  { role: 'system', content: 'Answer in one paragraph. '.repeat(10) },
  { role: 'user', content: 'What should a gateway add to a call? '.repeat(13) },
];
const chat = (model: string, fields: object = {}): PlannedCall => ({
  path: `/openai/deployments/${model}/chat/completions`,
  body: { messages, max_tokens: 500, ...fields },
});

/** Calls by kind. Requests and complete replies have 1 kB. */
export const plannedCalls = {
  unary: chat('short'),
  unlimited: { ...chat('short'), key: unlimitedKey },
  shortStream: chat('short', { stream: true }),
  longStream: chat('long', { stream: true }),
  paced: chat('paced', { stream: true }),
  slow: chat('slow', { stream: true }),
  messages: {
    path: '/msgapi/v1/messages',
    body: { model: 'claude', max_tokens: 500, stream: true, messages: messages.slice(1) },
  },
  responses: { path: '/v1/responses', body: { model: 'responses', stream: true, store: false, input: messages[1]?.content } },
  storedResponses: { path: '/v1/responses', body: { model: 'responses', stream: true, input: messages[1]?.content } },
  quickApp: chat('app', { stream: true }),
} as const satisfies Record<string, PlannedCall>;
