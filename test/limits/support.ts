import { type Clock, systemClock } from '#base/time/clock.ts';
import { hello, plainCompletion } from '#test/chunks.ts';
import { jsonReply, type Reply, type ScriptedUpstream, startScriptedUpstream } from '#test/scripted-upstream.ts';
import type { TestResponse } from '#test/send-request.ts';
import { type ServiceOptions, startService, type TestService, withKey } from '#test/start-service.ts';

/** A clock whose calendar stands still until it is set. */
interface SetClock extends Clock {
  set(time: string): void;
}

function setClock(time: string): SetClock {
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
const start = '2026-07-15T10:20:30.400Z';

const prices = { prompt: 0.001, completion: 0.002 };

/** What the service of these tests offers, under limits by role; `m` and `n` use 7 + 5 tokens a call. */
export function limitedBy(roles: object, endpoint: string): object {
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
  const clock = setClock(start);
  const service = await startService(limitedBy(roles, upstream.endpoint), { clock, ...options });
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

/** A reply of so many tokens. */
export function counted(prompt: number, completion: number, more: object = {}): Reply {
  const usage = { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion, ...more };
  return jsonReply(plainCompletion('hi', { usage }));
}

export function chat(service: TestService, deployment = 'm', key = 'caller-key'): Promise<TestResponse> {
  return service.chat(deployment, { messages: hello }, withKey(key));
}

export async function statusOf(asked: Promise<TestResponse>): Promise<number> {
  return (await asked).status;
}

/** Statuses of three calls: now, at the last moment of a period, and at the first of the next. */
export async function statusesAround({ service, clock }: LimitedService, last: string, next: string): Promise<number[]> {
  const statuses = [await statusOf(chat(service))];
  for (const time of [last, next]) {
    clock.set(time);
    statuses.push(await statusOf(chat(service)));
  }
  return statuses;
}

export interface WindowStats {
  readonly total: number | null;
  readonly used: number;
  readonly resetsAt: number;
}

/** What the service says is used. */
export async function statsOf(service: TestService, deployment = 'm', key = 'caller-key'): Promise<Record<string, WindowStats>> {
  const answer = await service.sendRequest({
    method: 'GET',
    path: `/v1/deployments/${deployment}/limits`,
    headers: { 'api-key': key },
  });
  return answer.json as Record<string, WindowStats>;
}

/** `used` of every window that has a limit. */
export async function usedOf(service: TestService, deployment = 'm', key = 'caller-key'): Promise<Record<string, number>> {
  const stats = Object.entries(await statsOf(service, deployment, key));
  return Object.fromEntries(stats.filter(([, { total }]) => total !== null).map(([name, { used }]) => [name, used]));
}
