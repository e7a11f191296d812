import { type Clock, systemClock } from '#base/time/clock.ts';
import { hello, plainCompletion } from '#test/chunks.ts';
import { jsonReply, type Reply, type ScriptedUpstream, startScriptedUpstream } from '#test/scripted-upstream.ts';
import type { TestResponse } from '#test/send-request.ts';
import { type ServiceOptions, startService, type TestService, withKey } from '#test/start-service.ts';

/** A clock whose calendar changes only when it is set. */
interface SetClock extends Clock {
  set(time: string): void;
}

function createClock(time: string): SetClock {
  let epochMs = Date.parse(time);
  return {
    ...systemClock,
    epochMs: () => epochMs,
    set(next) {
      epochMs = Date.parse(next);
    },
  };
}

export interface LimitedService extends AsyncDisposable {
  readonly service: TestService;
  readonly upstream: ScriptedUpstream;
  readonly clock: SetClock;
}

/** `2026-07-15` is a Wednesday. */
const startTime = '2026-07-15T10:20:30.400Z';

const prices = { prompt: 0.001, completion: 0.002 };

/** Configuration with limits by role. Each call of `m` and `n` uses 7 + 5 tokens. */
export function createConfiguration(roles: object, endpoint: string): object {
  const upstreams = [{ endpoint }];
  return {
    models: {
      m: { upstreams, pricing: prices, maxRetryAttempts: 1 },
      n: { upstreams, pricing: prices, maxRetryAttempts: 1 },
      'team/m 1': { upstreams },
      vectors: { type: 'embedding', upstreams, pricing: { prompt: 0.01 }, maxRetryAttempts: 1 },
    },
    applications: { app: { endpoint: `${endpoint}/app` }, second: { endpoint: `${endpoint}/second` } },
    keys: {
      'caller-key': { project: 'test' },
      another: { project: 'another' },
      same: { project: 'test' },
      staff: { project: 'staff', role: 'staff' },
      both: { project: 'both', roles: ['default', 'staff'] },
      stranger: { project: 'stranger', role: 'unheard-of' },
    },
    roles,
    security: { allowPrivateNetworks: ['127.0.0.1'] },
  };
}

export async function startLimited(roles: object, options: ServiceOptions = {}): Promise<LimitedService> {
  const upstream = await startScriptedUpstream(jsonReply(plainCompletion('hi')));
  const clock = createClock(startTime);
  const service = await startService(createConfiguration(roles, upstream.endpoint), { clock, ...options });
  return {
    service,
    upstream,
    clock,
    [Symbol.asyncDispose]: async () => {
      await service.close();
      await upstream.close();
    },
  };
}

/** Returns a reply that reports this number of prompt and completion tokens. */
export function replyWithUsage(prompt: number, completion: number, fields: object = {}): Reply {
  const usage = { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion, ...fields };
  return jsonReply(plainCompletion('hi', { usage }));
}

export function chat(service: TestService, deployment = 'm', key = 'caller-key'): Promise<TestResponse> {
  return service.chat(deployment, { messages: hello }, withKey(key));
}

export async function getStatus(response: Promise<TestResponse>): Promise<number> {
  return (await response).status;
}

/** Returns the statuses of three calls: now, at the last moment of a period, and at the first moment of the next one. */
export async function getStatusesAround({ service, clock }: LimitedService, last: string, next: string): Promise<number[]> {
  const statuses = [await getStatus(chat(service))];
  for (const time of [last, next]) {
    clock.set(time);
    statuses.push(await getStatus(chat(service)));
  }
  return statuses;
}

export interface WindowStats {
  readonly total: number | null;
  readonly used: number;
  readonly resetsAt: number;
}

/** Returns the limits and the usage that the service reports. */
export async function readStats(
  service: TestService,
  deployment = 'm',
  key = 'caller-key',
): Promise<Record<string, WindowStats>> {
  const answer = await service.sendRequest({
    method: 'GET',
    path: `/v1/deployments/${deployment}/limits`,
    headers: { 'api-key': key },
  });
  return answer.json as Record<string, WindowStats>;
}

/** Returns the field `used` of every window that has a limit. */
export async function readUsed(service: TestService, deployment = 'm', key = 'caller-key'): Promise<Record<string, number>> {
  const stats = Object.entries(await readStats(service, deployment, key));
  return Object.fromEntries(stats.filter(([, { total }]) => total !== null).map(([name, { used }]) => [name, used]));
}
