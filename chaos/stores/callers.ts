import { setTimeout as sleep } from 'node:timers/promises';
import { requireErrorShape } from '#test/sane-answer.ts';
import { sendRequest } from '#test/send-request.ts';
import { callerKey, getChatPath, withKey } from '#test/start-service.ts';
import { call, readOutcome } from '../support/call.ts';
import type { Tally } from '../tally.ts';

/** Stores that a request needs. The service may reject it with 503 while one of them is unavailable. */
type Needs = readonly ('redis' | 'postgres')[];

interface Kind {
  readonly name: string;
  readonly needs: Needs;
  /** Returns the status. Throws if the response is not complete. */
  readonly send: (url: string, index: number) => Promise<number>;
}

/** Maximum duration of a response, even while stores are unavailable. */
const maxMs = 12_000;

async function chat(url: string, deployment: string, isStream: boolean): Promise<number> {
  const outcome = readOutcome(await call(url, { deployment, isStream, isMessages: false }), false);
  return outcome.kind === 'error' ? outcome.status : 200;
}

async function send(url: string, method: string, path: string, body?: unknown): Promise<number> {
  const headers = body === undefined ? { 'api-key': callerKey } : withKey();
  const {
    status,
    text,
    headers: responseHeaders,
  } = await sendRequest(url, { method, path, headers, ...(body !== undefined && { body }) });
  if (status >= 400) requireErrorShape(text);
  if (status === 503 && responseHeaders['retry-after'] === undefined) throw new Error(`503 without Retry-After: ${text}`);
  return status;
}

function createKinds(bucket: string): readonly Kind[] {
  const form = { app: { consentRequired: false } };
  return [
    { name: 'a model', needs: [], send: (url) => chat(url, 'free', false) },
    { name: 'a stream', needs: [], send: (url) => chat(url, 'free', true) },
    { name: 'a model with a limit', needs: ['redis'], send: (url) => chat(url, 'bounded', false) },
    { name: 'an application', needs: ['redis'], send: (url) => chat(url, 'app', false) },
    { name: 'consents', needs: ['postgres'], send: (url) => send(url, 'GET', '/v1/consent') },
    { name: 'a file', needs: ['postgres'], send: (url) => send(url, 'GET', `/v1/files/${bucket}/stores.txt`) },
    {
      name: 'to keep a file',
      needs: ['postgres'],
      send: (url, index) => send(url, 'PUT', `/v1/files/${bucket}/stores.txt`, `${index}`),
    },
    { name: 'a consent', needs: ['postgres'], send: (url) => send(url, 'POST', '/v1/consent/app', { consent: form }) },
    { name: 'readiness', needs: [], send: (url) => send(url, 'GET', '/ready') },
    { name: 'who asks', needs: [], send: (url) => send(url, 'POST', getChatPath('none'), { messages: [] }) },
  ];
}

/** Sends all kinds of requests repeatedly and records faults. */
export class Callers {
  readonly #tally: Tally;
  readonly #kinds: readonly Kind[];
  readonly #urls: readonly string[];
  /** Unavailable stores. Requests that need one of them may be rejected. */
  away: Needs = [];
  #hasEnded = false;
  #running: Promise<unknown> = Promise.resolve();

  constructor(tally: Tally, urls: readonly string[], bucket: string) {
    this.#tally = tally;
    this.#urls = urls;
    this.#kinds = createKinds(bucket);
  }

  start(): void {
    this.#running = Promise.all(this.#kinds.flatMap((kind) => this.#urls.map((url) => this.#sendRequests(url, kind))));
  }

  async stop(): Promise<void> {
    this.#hasEnded = true;
    await this.#running;
  }

  /** Returns whether every node serves all kinds of requests. */
  async isWhole(): Promise<boolean> {
    const statuses = this.#urls.flatMap((url) => this.#kinds.map(({ send: sendTo }) => sendTo(url, 0).catch(() => 503)));
    return (await Promise.all(statuses)).every((status) => status < 500);
  }

  async #sendRequests(url: string, kind: Kind): Promise<void> {
    for (let index = 0; !this.#hasEnded; index += 1) {
      const beganMs = performance.now();
      const awayBefore = this.away;
      const outcome = await kind.send(url, index).catch((error: Error) => error.message);
      const ms = performance.now() - beganMs;
      this.#note(kind, outcome, [...awayBefore, ...this.away]);
      this.#tally.peak(`longest ms`, Math.round(ms));
      this.#tally.require(ms < maxMs, () => `${kind.name} took ${Math.round(ms)} ms with ${awayBefore} away`);
      await sleep(50);
    }
  }

  #note({ name, needs }: Kind, outcome: number | string, away: Needs): void {
    this.#tally.count('calls');
    if (outcome === 503) this.#tally.count('refused with 503');
    const mayRefuse = needs.some((store) => away.includes(store));
    const isGood = typeof outcome === 'number' && (outcome < 500 || (outcome === 503 && mayRefuse));
    this.#tally.require(isGood, () => `${name} with [${away}] away: ${outcome}`);
  }
}
