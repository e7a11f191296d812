import { randomBytes } from 'node:crypto';
import { expect, vi } from 'vitest';
import { createFreshDatabase, type TestDatabase } from '#test/fresh-database.ts';
import { queryPostgres } from '#test/query-postgres.ts';
import { type ScriptedUpstream, startScriptedUpstream } from '#test/scripted-upstream.ts';
import { sendRequest, type TestResponse } from '#test/send-request.ts';
import { startProcess, type TestProcess } from '#test/start-process.ts';
import { startRedis, type TestRedis } from '#test/start-redis.ts';
import { startS3, type TestS3 } from '#test/start-s3.ts';
import { callerKey } from '#test/start-service.ts';
import { answerAsHost } from './host.ts';

/** Nodes that share all state, with their own Redis and S3 that tests can stop. */
export interface Cluster extends AsyncDisposable {
  readonly nodes: readonly TestProcess[];
  readonly redis: TestRedis;
  readonly s3: TestS3;
  /** Serves their models and applications. */
  readonly host: ScriptedUpstream;
  /** Starts another node. */
  start(environment?: Readonly<Record<string, string>>): Promise<TestProcess>;
  /** Queries the database like its operator. */
  query(statement: string): Promise<readonly Record<string, unknown>[]>;
}

export const secret = randomBytes(32).toString('base64url');

/** Starts nodes on the database, which is dropped at the end. */
export async function startCluster(count: number, starting: Promise<TestDatabase> = createFreshDatabase()): Promise<Cluster> {
  const [database, redis, s3, host] = await Promise.all([starting, startRedis(), startS3(), startScriptedUpstream(answerAsHost)]);
  const shared = {
    PARLEY_DATABASE_URL: database.url,
    PARLEY_REDIS_URL: redis.url,
    PARLEY_FILES_URL: s3.filesUrl,
    PARLEY_SECRET: secret,
  };
  const running: TestProcess[] = [];
  const start: Cluster['start'] = async (environment = {}) => {
    const node = await startProcess({ configuration: toConfiguration(host.url), environment: { ...shared, ...environment } });
    running.push(node);
    return node;
  };
  const nodes = await Promise.all(Array.from({ length: count }, () => start()));
  return {
    nodes,
    redis,
    s3,
    host,
    start,
    query: (statement) => queryPostgres(database.url, statement),
    async [Symbol.asyncDispose]() {
      for (const node of running) await node[Symbol.asyncDispose]();
      await Promise.all([host.close(), ...[database, redis, s3].map((server) => server[Symbol.asyncDispose]())]);
    },
  };
}

/** Returns the node at the index. */
export function getNode({ nodes }: Pick<Cluster, 'nodes'>, index: number): TestProcess {
  const node = nodes[index];
  if (node === undefined) throw new Error(`there is no node ${index}`);
  return node;
}

const prices = { prompt: 0.001, completion: 0.002 };
const quickApp = 'https://parley.test/custom_application_schemas/quickapps';

/** Returns a configuration with models and applications of the host. A call of a model uses 7 + 5 tokens. */
export function toConfiguration(host: string): object {
  const upstreams = [{ endpoint: `${host}/v1` }];
  const model = { upstreams, maxRetryAttempts: 1 };
  return {
    models: {
      free: model,
      bounded: model,
      counted: model,
      crowded: model,
      priced: { ...model, pricing: prices },
      guarded: { ...model, features: { consentRequired: true } },
      demo: { upstreams: [{ protocol: 'demo' }] },
    },
    applications: {
      app: { endpoint: `${host}/app`, dependencies: ['free', 'guarded', 'counted'] },
      weather: {
        applicationTypeSchemaId: quickApp,
        applicationProperties: {
          temperature: 0,
          instructions: 'Be kind.',
          model: 'demo',
          client_toolset: [
            {
              name: 'get_weather',
              description: 'Gives the weather of a city',
              parameters: [{ name: 'city', description: 'The city', parameter_type: 'string' }],
            },
          ],
        },
      },
    },
    keys: {
      [callerKey]: { project: 'test' },
      other: { project: 'other' },
      spender: { project: 'spender', role: 'spender' },
      crowd: { project: 'crowd', role: 'crowd' },
      narrow: { project: 'narrow', totals: { maxParallel: 20 } },
    },
    roles: {
      default: { limits: { bounded: { requestDay: 30 }, counted: { day: 100 }, crowded: { month: 600 } } },
      spender: { limits: {}, costLimit: { day: 0.1 } },
      crowd: { limits: {}, costLimit: { month: 0.85 } },
    },
    security: { allowPrivateNetworks: ['127.0.0.1/32'] },
  };
}

/** A saved application that is a quick app with the demo model. */
export const demoQuickApp = {
  displayName: 'A quick app',
  applicationTypeSchemaId: quickApp,
  applicationProperties: { temperature: 0, instructions: 'Be kind.', model: 'demo' },
};

/** Sends a GET request with the key of a caller. */
export function get(node: TestProcess, path: string, key = callerKey): Promise<TestResponse> {
  return sendRequest(node.url, { method: 'GET', path, headers: { 'api-key': key } });
}

export interface Health {
  readonly status: string;
  readonly codes: readonly string[];
}

/** Returns the results of `/health` and `/ready` of a node. */
export async function getHealth(
  node: TestProcess,
): Promise<Health & { readonly ready: number; readonly hindrances: readonly string[] }> {
  const [health, ready] = await Promise.all([get(node, '/health'), get(node, '/ready')]);
  const { status, reasons } = health.json as Reasons;
  const { reasons: hindrances } = ready.json as Reasons;
  return { status, codes: reasons.map(toCode), ready: ready.status, hindrances: hindrances.map(toCode) };
}

interface Reasons {
  readonly status: string;
  readonly reasons: readonly { readonly code: string }[];
}

function toCode({ code }: { readonly code: string }): string {
  return code;
}

/**
 * Sends batches of calls until a limit is used up. Expects that it admits an exact number of calls and rejects the rest with 429.
 * `send` returns the number of responses by status. A call waits 5 s for the reservations of other calls. On a busy machine they
 * last longer, and the calls of the next batch use the rest of the limit.
 */
export async function expectAdmitted(admitted: number, send: () => Promise<Readonly<Record<number, number>>>): Promise<void> {
  let admittedCount = 0;
  await vi.waitFor(async () => {
    const { 200: count = 0, 429: _rejected, ...unexpected } = await send();
    expect(unexpected).toEqual({});
    admittedCount += count;
    expect(admittedCount).toBeGreaterThanOrEqual(admitted);
  });
  expect(admittedCount).toBe(admitted);
}
