import { readFileSync } from 'node:fs';
import type { JsonObject } from '#base/json/json.ts';
import type { Parley } from '#contract/messages/dialect.ts';
import { plainCompletion } from '#test/chunks.ts';
import { jsonReply, type Reply, type ScriptedUpstream, startScriptedUpstream } from '#test/scripted-upstream.ts';
import type { TestResponse } from '#test/send-request.ts';
import { startService, type TestService, withKey } from '#test/start-service.ts';
import { createUpstream, recorded } from '#test/vendor-replies.ts';
import type { DialectName } from '../../scripts/upstream-features.ts';

/** A request of the compat wire, without what it is sent to. */
export type Body = { readonly [key: string]: unknown };

/** What became of something in a request: the upstream got it in some form, got the same as without it, or was not asked. */
type Fate = 'carried' | 'lost' | 'refused';

/** Requests without and with something; `mark` is what an upstream must then have, where another request than without is not enough. */
export type ProbeBodies = readonly [without: Body, having: Body, mark?: string];

export interface Prober extends AsyncDisposable {
  /** Compares what an upstream of the dialect gets of two requests; `isTold`: whether the answer names something that was left out. */
  fateOf(dialect: DialectName, probe: ProbeBodies): Promise<{ fate: Fate; isTold: boolean }>;
  /** The same for requests in the Messages dialect. */
  messagesFateOf(dialect: DialectName, probe: ProbeBodies): Promise<{ fate: Fate; isTold: boolean }>;
  /** The same for requests in the Responses dialect. */
  responsesFateOf(dialect: DialectName, probe: ProbeBodies): Promise<{ fate: Fate; isTold: boolean }>;
  /** The first choice of the caller's completion, where the upstream replies so, with its usage. */
  told(dialect: DialectName, reply: Reply): Promise<{ choice: unknown; usage: unknown }>;
  readonly service: TestService;
  readonly upstream: ScriptedUpstream;
}

const anthropicMessage = {
  ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'claude', stop_reason: 'end_turn', stop_sequence: null },
  ...{ content: [{ type: 'text', text: 'Hi.' }], usage: { input_tokens: 5, output_tokens: 2 } },
};

/** What an upstream of the Responses dialect says that it used. */
export function inTokens(more: object = {}): object {
  const details = { input_tokens_details: { cached_tokens: 0 }, output_tokens_details: { reasoning_tokens: 0 } };
  return { input_tokens: 7, output_tokens: 5, total_tokens: 12, ...details, ...more };
}

/** A whole answer of an upstream of the Responses dialect. */
export function responsesReply(fields: object): object {
  const content = [{ type: 'output_text', text: 'Hi.', annotations: [], logprobs: [] }];
  return {
    ...{ id: 'resp_up', object: 'response', created_at: 1, completed_at: 2, status: 'completed', model: 'up' },
    ...{ error: null, incomplete_details: null, background: false, previous_response_id: null, instructions: null },
    ...{
      max_output_tokens: null,
      max_tool_calls: null,
      metadata: {},
      parallel_tool_calls: true,
      store: false,
      truncation: 'disabled',
    },
    ...{ presence_penalty: 0, frequency_penalty: 0, temperature: 1, top_p: 1, top_logprobs: 0, service_tier: 'default' },
    ...{ reasoning: { effort: null, summary: null }, text: { format: { type: 'text' } }, tool_choice: 'auto', tools: [] },
    ...{ prompt_cache_key: null, safety_identifier: null, user: null },
    output: [{ type: 'message', id: 'msg_up', status: 'completed', role: 'assistant', content }],
    usage: inTokens(),
    ...fields,
  };
}

interface Got {
  readonly received: string;
  /** Whether the answer names something that was left out. */
  readonly isTold: boolean;
}

/** A good reply of each dialect. */
const fine: Readonly<Record<Exclude<DialectName, 'demo'>, Reply>> = {
  openai: jsonReply(plainCompletion('Hi.')),
  azure: jsonReply(plainCompletion('Hi.')),
  responses: jsonReply(responsesReply({})),
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
    responses: { endpoint, api: 'responses' },
    anthropic: { protocol: 'anthropic', endpoint, key: 'k', model: 'claude-sonnet-4-5' },
    bedrock: createUpstream('bedrock', url),
    vertex: createUpstream('vertex', url),
    gemini: createUpstream('gemini', url),
    mistral: createUpstream('mistral', url),
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
  /** What became of a request: what the upstream got of it, or for the demo what it said; undefined where it was refused. */
  const got = async (dialect: DialectName, asked: () => Promise<TestResponse>): Promise<Got | undefined> => {
    const index = upstream.requests.length;
    if (dialect !== 'demo') upstream.script(fine[dialect]);
    service.forgetFailures();
    const { status, text, json, headers } = await asked();
    if (status !== 200 && status !== 400) throw new Error(`${dialect} answered ${status}: ${text}`);
    if (status === 400) return undefined;
    const { choices, content, output, parley } = json as Partial<Record<'choices' | 'content' | 'output', unknown>> & {
      parley?: Parley;
    };
    const said = choices ?? (output === undefined ? [content, parley?.custom_content] : textsOf(output));
    const received = dialect === 'demo' ? said : upstream.requests.slice(index).map((request) => request.text);
    return { received: JSON.stringify(received), isTold: headers['parley-ignored'] !== undefined };
  };
  const compare = async ([without, having, mark]: ProbeBodies, ask: (body: Body) => Promise<Got | undefined>) => {
    const other = await ask(having);
    if (other === undefined) return { fate: 'refused' as const, isTold: true };
    const { received, isTold } = other;
    const isSame = mark === undefined ? received === (await ask(without))?.received : !received.includes(mark);
    return { fate: isSame ? ('lost' as const) : ('carried' as const), isTold };
  };
  return {
    service,
    upstream,
    fateOf: (dialect, probe) => compare(probe, (body) => got(dialect, () => service.chat(dialect, body))),
    messagesFateOf: (dialect, probe) =>
      compare(probe, (given) => {
        const body = { model: dialect, ...given };
        return got(dialect, () => service.sendRequest({ path: '/msgapi/v1/messages', headers: withKey(), body }));
      }),
    responsesFateOf: (dialect, probe) =>
      compare(probe, (given) => {
        const body = { model: dialect, store: false, ...given };
        return got(dialect, () => service.sendRequest({ path: '/v1/responses', headers: withKey(), body }));
      }),
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

/** What an answer in the Responses dialect says and calls, whatever its ids. */
function textsOf(output: unknown): unknown {
  return (output as JsonObject[]).map(({ type, name, arguments: given, content }) => [type, name, given, content]);
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
