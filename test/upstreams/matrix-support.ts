import { readFileSync } from 'node:fs';
import { plainCompletion } from '#test/chunks.ts';
import { jsonReply, type Reply, type ScriptedUpstream, startScriptedUpstream } from '#test/scripted-upstream.ts';
import { startService, type TestService } from '#test/start-service.ts';
import type { DialectName } from '../../scripts/upstream-features.ts';
import { recorded, upstreamOf } from './vendor-support.ts';

/** A request of the compat wire, without what it is sent to. */
export type Body = { readonly [key: string]: unknown };

/** What became of something in a request: the upstream got it in some form, got the same as without it, or was not asked. */
type Fate = 'carried' | 'lost' | 'refused';

export interface Prober extends AsyncDisposable {
  /** Compares what an upstream of the dialect gets of two requests. */
  fateOf(dialect: DialectName, probe: readonly [without: Body, having: Body, mark?: string]): Promise<Fate>;
  /** The first choice of the caller's completion, where the upstream replies so, with its usage. */
  told(dialect: DialectName, reply: Reply): Promise<{ choice: unknown; usage: unknown }>;
  readonly service: TestService;
  readonly upstream: ScriptedUpstream;
}

const anthropicMessage = {
  ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'claude', stop_reason: 'end_turn', stop_sequence: null },
  ...{ content: [{ type: 'text', text: 'Hi.' }], usage: { input_tokens: 5, output_tokens: 2 } },
};

/** A good reply of each dialect. */
const fine: Readonly<Record<Exclude<DialectName, 'demo'>, Reply>> = {
  openai: jsonReply(plainCompletion('Hi.')),
  azure: jsonReply(plainCompletion('Hi.')),
  application: jsonReply(plainCompletion('Hi.')),
  anthropic: jsonReply(anthropicMessage),
  bedrock: recorded('bedrock', 'text'),
  vertex: recorded('gemini', 'text'),
  gemini: recorded('gemini', 'text'),
  mistral: recorded('mistral', 'text'),
};

/** The service before one upstream that keeps what it gets, in every dialect. */
export async function startProber(): Promise<Prober> {
  const upstream = await startScriptedUpstream();
  const { endpoint, url } = upstream;
  const configured = {
    openai: { endpoint },
    azure: { protocol: 'azure', endpoint: `${url}/openai/deployments/m`, key: 'k' },
    anthropic: { protocol: 'anthropic', endpoint, key: 'k', model: 'claude-sonnet-4-5' },
    bedrock: upstreamOf('bedrock', url),
    vertex: upstreamOf('vertex', url),
    gemini: upstreamOf('gemini', url),
    mistral: upstreamOf('mistral', url),
    demo: { protocol: 'demo' },
  };
  const models = Object.entries(configured).map(([name, entry]) => [name, { upstreams: [entry], maxRetryAttempts: 1 }]);
  const vectors = Object.entries(configured).map(([name, entry]) => [
    `${name}-vectors`,
    { type: 'embedding', upstreams: [entry] },
  ]);
  const service = await startService({
    models: Object.fromEntries([...models, ...vectors]),
    applications: { application: { endpoint: `${url}/app` } },
  });
  const sent = async (dialect: Exclude<DialectName, 'demo'>, body: Body): Promise<string | undefined> => {
    const index = upstream.requests.length;
    upstream.script(fine[dialect]);
    service.balance.keepOnly(new Set());
    const { status, text } = await service.chat(dialect, body);
    if (status !== 200 && status !== 400) throw new Error(`${dialect} answered ${status}: ${text}`);
    const received = upstream.requests.slice(index).map((request) => request.text);
    return status === 200 ? JSON.stringify(received) : undefined;
  };
  const said = async (body: Body): Promise<string | undefined> => {
    const { status, completion } = await service.chat('demo', body);
    return status === 200 ? JSON.stringify(completion.choices) : undefined;
  };
  return {
    service,
    upstream,
    async fateOf(dialect, [without, having, mark]) {
      const probe = (body: Body) => (dialect === 'demo' ? said(body) : sent(dialect, body));
      const got = await probe(having);
      if (got === undefined) return 'refused';
      const isSame = mark === undefined ? got === (await probe(without)) : !got.includes(mark);
      return isSame ? 'lost' : 'carried';
    },
    async told(dialect, reply) {
      upstream.script(reply);
      const { completion } = await service.chat(dialect, { messages: [{ role: 'user', content: 'Hello' }] });
      return { choice: completion.choices[0], usage: completion.usage };
    },
    [Symbol.asyncDispose]: async () => {
      await service.close();
      await upstream.close();
    },
  };
}

/** A recorded stream of the Messages dialect. */
export function anthropicStream(name: string): Reply {
  const bytes = readFileSync(new URL(`../fixtures/anthropic/${name}.sse`, import.meta.url));
  return async (answering) => {
    answering.head();
    await answering.bytes(bytes);
    answering.response.end();
  };
}
