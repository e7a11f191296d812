import { readFileSync } from 'node:fs';
import type { JsonObject } from '#base/json/json.ts';
import type { ParleyExtension } from '#contract/messages/dialect.ts';
import { plainCompletion } from '#test/chunks.ts';
import { jsonReply, type Reply, type ScriptedUpstream, startScriptedUpstream } from '#test/scripted-upstream.ts';
import type { TestResponse } from '#test/send-request.ts';
import { startService, type TestService, withKey } from '#test/start-service.ts';
import { createRecordedReply, createUpstream } from '#test/vendor-replies.ts';
import type { DialectName } from '../../scripts/upstream-features.ts';

/** Request body of the chat API without the model. */
export type Body = { readonly [key: string]: unknown };

/** Treatment of a field: sent upstream in some form, omitted (the request is the same as without it), or rejected by Parley. */
type Treatment = 'supported' | 'dropped' | 'rejected';

/**
 * Requests without and with a field. If a differing request is not proof enough, `mark` is the text that the upstream must
 * receive.
 */
export type ProbeBodies = readonly [without: Body, having: Body, mark?: string];

export interface Prober extends AsyncDisposable {
  /** Compares the upstream requests for two client requests. `isReported` is whether the answer lists an omitted field. */
  getChatTreatment(dialect: DialectName, probe: ProbeBodies): Promise<{ treatment: Treatment; isReported: boolean }>;
  /** Like `getChatTreatment`, for requests of the Messages API. */
  getMessagesTreatment(dialect: DialectName, probe: ProbeBodies): Promise<{ treatment: Treatment; isReported: boolean }>;
  /** Like `getChatTreatment`, for requests of the Responses API. */
  getResponsesTreatment(dialect: DialectName, probe: ProbeBodies): Promise<{ treatment: Treatment; isReported: boolean }>;
  /** Returns the first choice of the completion and its usage if the upstream sends the reply. */
  getResult(dialect: DialectName, reply: Reply): Promise<{ choice: unknown; usage: unknown }>;
  readonly service: TestService;
  readonly upstream: ScriptedUpstream;
}

const anthropicMessage = {
  ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'claude', stop_reason: 'end_turn', stop_sequence: null },
  ...{ content: [{ type: 'text', text: 'Hi.' }], usage: { input_tokens: 5, output_tokens: 2 } },
};

/** Usage of a reply of the Responses API. */
export function createUsage(more: object = {}): object {
  const details = { input_tokens_details: { cached_tokens: 0 }, output_tokens_details: { reasoning_tokens: 0 } };
  return { input_tokens: 7, output_tokens: 5, total_tokens: 12, ...details, ...more };
}

/** A complete reply of an upstream with the Responses API. */
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
    usage: createUsage(),
    ...fields,
  };
}

interface Observation {
  readonly received: string;
  /** Whether the answer lists an omitted field. */
  readonly isReported: boolean;
}

/** A successful reply of each dialect. */
const fine: Readonly<Record<Exclude<DialectName, 'demo'>, Reply>> = {
  openai: jsonReply(plainCompletion('Hi.')),
  azure: jsonReply(plainCompletion('Hi.')),
  responses: jsonReply(responsesReply({})),
  application: jsonReply(plainCompletion('Hi.')),
  anthropic: jsonReply(anthropicMessage),
  bedrock: createRecordedReply('bedrock', 'text'),
  vertex: createRecordedReply('gemini', 'text'),
  gemini: createRecordedReply('gemini', 'text'),
  mistral: createRecordedReply('mistral', 'text'),
};

/** Starts the service with one upstream that records its requests, in every dialect. */
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
  /**
   * Sends a request and returns the upstream requests, or the answer of the demo. Returns undefined for a rejected request.
   */
  const observe = async (dialect: DialectName, sendRequest: () => Promise<TestResponse>): Promise<Observation | undefined> => {
    const index = upstream.requests.length;
    if (dialect !== 'demo') upstream.script(fine[dialect]);
    service.forgetFailures();
    const { status, text, json, headers } = await sendRequest();
    if (status !== 200 && status !== 400) throw new Error(`${dialect} answered ${status}: ${text}`);
    if (status === 400) return undefined;
    const { choices, content, output, parley } = json as Partial<Record<'choices' | 'content' | 'output', unknown>> & {
      parley?: ParleyExtension;
    };
    const answer = choices ?? (output === undefined ? [content, parley?.custom_content] : listContents(output));
    const received = dialect === 'demo' ? answer : upstream.requests.slice(index).map((request) => request.text);
    return { received: JSON.stringify(received), isReported: headers['parley-ignored'] !== undefined };
  };
  const compare = async ([without, withField, mark]: ProbeBodies, send: (body: Body) => Promise<Observation | undefined>) => {
    const other = await send(withField);
    if (other === undefined) return { treatment: 'rejected' as const, isReported: true };
    const { received, isReported } = other;
    const isSame = mark === undefined ? received === (await send(without))?.received : !received.includes(mark);
    return { treatment: isSame ? ('dropped' as const) : ('supported' as const), isReported };
  };
  return {
    service,
    upstream,
    getChatTreatment: (dialect, probe) => compare(probe, (body) => observe(dialect, () => service.chat(dialect, body))),
    getMessagesTreatment: (dialect, probe) =>
      compare(probe, (fields) => {
        const body = { model: dialect, ...fields };
        return observe(dialect, () => service.sendRequest({ path: '/msgapi/v1/messages', headers: withKey(), body }));
      }),
    getResponsesTreatment: (dialect, probe) =>
      compare(probe, (fields) => {
        const body = { model: dialect, store: false, ...fields };
        return observe(dialect, () => service.sendRequest({ path: '/v1/responses', headers: withKey(), body }));
      }),
    async getResult(dialect, reply) {
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

/** Returns the content and the calls of a Responses answer without their IDs. */
function listContents(output: unknown): unknown {
  return (output as JsonObject[]).map(({ type, name, arguments: fields, content }) => [type, name, fields, content]);
}

/** A recorded stream of the Messages API. */
export function anthropicStream(name: string): Reply {
  const bytes = readFileSync(new URL(`../fixtures/anthropic/${name}.sse`, import.meta.url));
  return async (exchange) => {
    exchange.head();
    await exchange.bytes(bytes);
    exchange.response.end();
  };
}
