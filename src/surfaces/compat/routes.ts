import type { FastifyInstance } from 'fastify';
import { toLatin1 } from '#base/latin1.ts';
import { checkApiVersion } from '#contract/api-version.ts';
import { type ChatRequest, parseChatRequest } from '#contract/chat-request.ts';
import { parseEmbeddingsRequest } from '#contract/embeddings-request.ts';
import type { Call, Complete, Embed } from '#domain/call.ts';
import type { RequestContext } from '../http/request-context.ts';
import type { AuthenticatedBody, RequestHandler } from '../http/request-handler.ts';
import { sendJson } from '../http/send-json.ts';
import { serveCalls } from '../http/serve-raw.ts';
import { Body } from './body.ts';
import { readId, readTarget } from './path.ts';
import { sendFolded, sendStream } from './send-reply.ts';

export interface CompatDeps {
  readonly handler: RequestHandler;
  readonly complete: Complete;
  readonly embed: Embed;
  /** Prefixes that have the deployment paths, such as `compat` and `openai`. */
  readonly prefixes: readonly string[];
}

const isEmbeddings = /\/embeddings(\/|\?|$)/;

/** `/{prefix}/deployments/{id}/…` and `/v1/…`: chat completions and embeddings (contract 3). */
export function compatRoutes(app: FastifyInstance, tools: CompatDeps): void {
  for (const prefix of tools.prefixes) {
    const base = `/${prefix}/deployments/`;
    const chat = { operation: 'chat', route: `${base}{id}/chat/completions` } as const;
    const embeddings = { operation: 'embeddings', route: `${base}{id}/embeddings` } as const;
    serveCalls(app, `${base}*`, (raw) => {
      const url = raw.request.url ?? '';
      const facts = isEmbeddings.test(url) ? embeddings : chat;
      return tools.handler.serve(facts, raw, (context) => {
        const target = readTarget(url, base);
        const checksVersion = target.apiVersion !== undefined || prefix === 'compat';
        return serve[target.operation](tools, context, { ...target, checksVersion });
      });
    });
  }
  const byModel = { encodedId: undefined, apiVersion: undefined, checksVersion: false };
  for (const [route, operation] of [
    ['/v1/chat/completions', 'chat'],
    ['/v1/embeddings', 'embeddings'],
  ] as const) {
    serveCalls(app, route, (raw) =>
      tools.handler.serve({ operation, route }, raw, (context) => serve[operation](tools, context, byModel)),
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

async function serveChat(tools: CompatDeps, context: RequestContext, asked: Asked): Promise<void> {
  const { call, take } = open(context, asked, await tools.handler.admit(context));
  let isStreamed = false;
  const read = (): ChatRequest => {
    const request = parseChatRequest(take());
    isStreamed = request.stream === true;
    return request;
  };
  const reply = await tools.complete({ ...call, read });
  await (isStreamed ? sendStream(context, reply) : sendFolded(context, reply));
}

async function serveEmbeddings(tools: CompatDeps, context: RequestContext, asked: Asked): Promise<void> {
  const { call, take } = open(context, asked, await tools.handler.admit(context));
  const reply = await tools.embed({ ...call, read: () => parseEmbeddingsRequest(take()) });
  context.answersBy({ headers: reply.headers, used: () => reply.used });
  sendJson(context.response, 200, toLatin1(JSON.stringify(reply.body)), context.headers);
}

interface Opened {
  readonly call: Omit<Call, 'read'>;
  /** The body's value, once. */
  readonly take: () => unknown;
}

function open(context: RequestContext, asked: Asked, { caller, text }: AuthenticatedBody): Opened {
  const body = new Body(text);
  const deployment = asked.encodedId === undefined ? body.model() : readId(asked.encodedId);
  context.record.deployment(deployment);
  const take = (): unknown => {
    if (asked.checksVersion) checkApiVersion(asked.apiVersion ?? '');
    return body.take();
  };
  const wantsTrace = context.request.headers['x-parley-trace'] === 'true';
  return { call: { id: context.id, deployment, caller, signal: context.signal, record: context.record, wantsTrace }, take };
}
