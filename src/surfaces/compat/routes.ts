import type { FastifyInstance } from 'fastify';
import { toLatin1 } from '#base/latin1.ts';
import { checkApiVersion } from '#contract/api-version.ts';
import { type ChatRequest, parseChatRequest } from '#contract/chat-request.ts';
import { parseEmbeddingsRequest } from '#contract/embeddings-request.ts';
import type { Call, Complete, Embed } from '#domain/call.ts';
import type { Admitted, Door } from '../http/door.ts';
import { sendJson } from '../http/send-json.ts';
import { serveCalls } from '../http/serve-raw.ts';
import type { Visit } from '../http/visit.ts';
import { Body } from './body.ts';
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
    serveCalls(app, `${base}*`, (raw) => {
      const url = raw.request.url ?? '';
      const facts = isEmbeddings.test(url) ? embeddings : chat;
      return tools.door.serve(facts, raw, (visit) => {
        const target = readTarget(url, base);
        const checksVersion = target.apiVersion !== undefined || prefix === 'compat';
        return serve[target.operation](tools, visit, { ...target, checksVersion });
      });
    });
  }
  const byModel = { encodedId: undefined, apiVersion: undefined, checksVersion: false };
  for (const [route, operation] of [
    ['/v1/chat/completions', 'chat'],
    ['/v1/embeddings', 'embeddings'],
  ] as const) {
    serveCalls(app, route, (raw) =>
      tools.door.serve({ operation, route }, raw, (visit) => serve[operation](tools, visit, byModel)),
    );
  }
}

interface Asked {
  /** Undefined where the body's `model` names the deployment. */
  readonly encodedId: string | undefined;
  readonly apiVersion: string | undefined;
  readonly checksVersion: boolean;
}

const serve = { chat: serveChat, embeddings: serveEmbeddings };

async function serveChat(tools: CompatTools, visit: Visit, asked: Asked): Promise<void> {
  const { call, take } = open(visit, asked, await tools.door.admit(visit));
  let isStreamed = false;
  const read = (): ChatRequest => {
    const request = parseChatRequest(take());
    isStreamed = request.stream === true;
    return request;
  };
  const reply = await tools.complete({ ...call, read });
  await (isStreamed ? sendStream(visit, reply) : sendFolded(visit, reply));
}

async function serveEmbeddings(tools: CompatTools, visit: Visit, asked: Asked): Promise<void> {
  const { call, take } = open(visit, asked, await tools.door.admit(visit));
  const reply = await tools.embed({ ...call, read: () => parseEmbeddingsRequest(take()) });
  visit.answersBy({ headers: reply.headers, used: () => reply.used });
  sendJson(visit.response, 200, toLatin1(JSON.stringify(reply.body)), visit.headers);
}

interface Opened {
  readonly call: Omit<Call, 'read'>;
  /** The body's value, once. */
  readonly take: () => unknown;
}

function open(visit: Visit, asked: Asked, { caller, text }: Admitted): Opened {
  const body = new Body(text);
  const deployment = asked.encodedId === undefined ? body.model() : readId(asked.encodedId);
  visit.record.deployment(deployment);
  const take = (): unknown => {
    if (asked.checksVersion) checkApiVersion(asked.apiVersion ?? '');
    return body.take();
  };
  const wantsTrace = visit.request.headers['x-parley-trace'] === 'true';
  return { call: { id: visit.id, deployment, caller, signal: visit.signal, record: visit.record, wantsTrace }, take };
}
