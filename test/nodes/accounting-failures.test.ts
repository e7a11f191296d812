import { describe, expect, it } from 'vitest';
import { plainCompletion, plainReply } from '#test/chunks.ts';
import { DelegatingLimitStore } from '#test/delegating-limit-store.ts';
import { startScriptedUpstream, toEvent } from '#test/scripted-upstream.ts';
import { sendRequest } from '#test/send-request.ts';
import { startService, type TestService, withKey } from '#test/start-service.ts';

/** Admits calls and runs `charge` when their usage is recorded. */
class FaultyStore extends DelegatingLimitStore {
  readonly #charge: () => Promise<void>;

  constructor(charge: () => Promise<void>) {
    super();
    this.#charge = charge;
  }

  protected override beforeSettle(): Promise<void> {
    return this.#charge();
  }
}

const failures: readonly [string, () => Promise<void>][] = [
  ['rejects', () => Promise.reject(new Error('gone'))],
  [
    'throws',
    () => {
      throw new Error('gone');
    },
  ],
  ['never answers', () => new Promise(() => undefined)],
  ['answers late', () => new Promise((resolve) => setTimeout(resolve, 3_000).unref())],
];

const messages = [{ role: 'user', content: 'Hello' }];

/** Sends a call to each API and returns its status and whether it has an error. */
async function callAll({ url }: TestService): Promise<readonly string[]> {
  const calls: readonly [string, object][] = [
    ['/v1/chat/completions', { model: 'm', messages }],
    ['/v1/chat/completions', { model: 'm', messages, stream: true }],
    ['/msgapi/v1/messages', { model: 'm', messages, max_tokens: 9 }],
    ['/msgapi/v1/messages', { model: 'm', messages, max_tokens: 9, stream: true }],
    ['/v1/embeddings', { model: 'vectors', input: 'x' }],
    ['/v1/chat/completions', { model: 'app', messages }],
  ];
  const answers = await Promise.all(calls.map(([path, body]) => sendRequest(url, { path, headers: withKey(), body })));
  return answers.map(({ status, text }) => `${status} ${/"error"/.test(text)}`);
}

describe.each(failures)('limit store that %s when it records usage', (_fault, charge) => {
  it('fails or delays no call on any API', async () => {
    await using host = await startScriptedUpstream(({ received, response }) => {
      const { stream, input } = received.body;
      response.setHeader('content-type', stream === true ? 'text/event-stream' : 'application/json');
      if (stream === true) return void response.end(`${plainReply('hi').map(toEvent).join('')}data: [DONE]\n\n`);
      const vectors = { object: 'list', data: [], usage: { prompt_tokens: 1, total_tokens: 1 } };
      response.end(JSON.stringify(input === undefined ? plainCompletion('hi') : vectors));
    });
    const upstreams = [{ endpoint: host.endpoint }];
    const errorMessages: string[] = [];
    await using service = await startService(
      {
        models: { m: { upstreams, pricing: { prompt: 0.1 } }, vectors: { type: 'embedding', upstreams } },
        applications: { app: { endpoint: `${host.url}/app` } },
        roles: { default: { limits: { '*': { day: 1_000_000, requestDay: 1_000 } }, costLimit: { day: 100_000 } } },
        security: { allowPrivateNetworks: ['127.0.0.1/32'] },
      },
      { limitStore: new FaultyStore(charge), reportError: (message) => errorMessages.push(message) },
    );
    const startMs = performance.now();
    expect(await callAll(service)).toEqual(Array(6).fill('200 false'));
    expect(performance.now() - startMs).toBeLessThan(30_000);
    expect(new Set(errorMessages)).toEqual(new Set(errorMessages.length === 0 ? [] : ['could not count the usage of a call']));
  });
});
