import type { FastifyInstance } from 'fastify';
import { isJsonObject, JsonFault, parseJson } from '#base/json.ts';
import { toLatin1 } from '#base/latin1.ts';
import { checkApiVersion } from '#contract/api-version.ts';
import { type ChatRequest, parseChatRequest } from '#contract/chat-request.ts';
import { parseEmbeddingsRequest } from '#contract/embeddings-request.ts';
import { ParleyError } from '#contract/errors.ts';
import type { Complete, Embed } from '#domain/call.ts';
import type { Operation } from '#domain/telemetry.ts';
import type { Door } from '../http/door.ts';
import { sendJson } from '../http/send-json.ts';
import { serveRaw } from '../http/serve-raw.ts';
import type { Visit } from '../http/visit.ts';
import { readId, readTarget } from './path.ts';
import { sendFolded, sendStream } from './send-reply.ts';

export interface CompatTools {
  readonly door: Door;
  readonly complete: Complete;
  readonly embed: Embed;
  /** Prefixes that have the deployment paths, such as `compat` and `openai`. */
  readonly prefixes: readonly string[];
}

const isEmbeddings = /\/embeddings(\/|\?|$)/;

/** `/{prefix}/deployments/{id}/…` and `/v1/…`: chat completions and embeddings (contract 3). */
export function compatRoutes(app: FastifyInstance, tools: CompatTools): void {
  for (const prefix of tools.prefixes) {
    const base = `/${prefix}/deployments/`;
    const chat = { operation: 'chat', route: `${base}{id}/chat/completions` } as const;
    const embeddings = { operation: 'embeddings', route: `${base}{id}/embeddings` } as const;
    serveRaw(app, 'POST', `${base}*`, (raw) => {
      const url = raw.request.url ?? '';
      return tools.door.serve(isEmbeddings.test(url) ? embeddings : chat, raw, async (visit) => {
        const target = readTarget(url, base);
        await serveCall(tools, visit, { ...target, checksVersion: target.apiVersion !== undefined || prefix === 'compat' });
      });
    });
  }
  for (const [url, operation] of [
    ['/v1/chat/completions', 'chat'],
    ['/v1/embeddings', 'embeddings'],
  ] as const) {
    serveRaw(app, 'POST', url, (raw) =>
      tools.door.serve({ operation, route: url }, raw, (visit) =>
        serveCall(tools, visit, { operation, encodedId: undefined, apiVersion: undefined }),
      ),
    );
  }
}

interface Asked {
  readonly operation: Operation;
  /** Undefined where the body's `model` names it. */
  readonly encodedId: string | undefined;
  readonly apiVersion: string | undefined;
  readonly checksVersion?: boolean;
}

async function serveCall(tools: CompatTools, visit: Visit, asked: Asked): Promise<void> {
  const { caller, text } = await tools.door.admit(visit);
  const body = new Body(text);
  const deployment = asked.encodedId === undefined ? body.model() : readId(asked.encodedId);
  visit.record.deployment(deployment);
  const checkVersion = (): void => {
    if (asked.checksVersion) checkApiVersion(asked.apiVersion ?? '');
  };
  const call = { id: visit.id, deployment, caller, signal: visit.signal, record: visit.record };
  if (asked.operation === 'embeddings') {
    const read = () => {
      checkVersion();
      return parseEmbeddingsRequest(body.value());
    };
    const reply = await tools.embed({ ...call, read });
    visit.countsBy(() => reply.used);
    return sendJson(visit.response, 200, toLatin1(JSON.stringify(reply.body)), { ...visit.headers, ...reply.headers });
  }
  let request: ChatRequest | undefined;
  const read = (): ChatRequest => {
    checkVersion();
    request = parseChatRequest(body.value());
    return request;
  };
  const reply = await tools.complete({ ...call, read });
  await (request?.stream === true ? sendStream(visit, reply) : sendFolded(visit, reply));
}

/** A JSON body, parsed when it is asked for. */
class Body {
  readonly #text: string;
  #value: unknown;

  constructor(text: string) {
    this.#text = text;
  }

  value(): unknown {
    if (this.#value === undefined) this.#value = parse(this.#text);
    return this.#value;
  }

  /** The deployment that stock OpenAI clients name. */
  model(): string {
    const value = this.value();
    const model = isJsonObject(value) ? value.model : undefined;
    if (typeof model === 'string' && model !== '') return model;
    throw new ParleyError('invalid_request', 'model must name a deployment; GET /v1/models lists yours.', { param: 'model' });
  }
}

function parse(text: string): unknown {
  try {
    return parseJson(text);
  } catch (thrown) {
    if (thrown instanceof JsonFault)
      throw new ParleyError('invalid_json', `The body cannot be read: ${thrown.message}.`, { cause: thrown });
    throw thrown;
  }
}
