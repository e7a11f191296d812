import type { FastifyInstance } from 'fastify';
import { toLatin1 } from '#base/latin1.ts';
import { checkApiVersion } from '#contract/api-version.ts';
import { parseChatRequest } from '#contract/chat-request.ts';
import { parseEmbeddingsRequest } from '#contract/embeddings-request.ts';
import type { Call, Calls } from '#domain/call.ts';
import type { Caller } from '#domain/callers/caller.ts';
import type { RequestContext } from '../http/request-context.ts';
import type { RequestHandler } from '../http/request-handler.ts';
import { sendJson } from '../http/send-json.ts';
import { serveCalls } from '../http/serve-raw.ts';
import { StreamedReply } from '../http/streamed-reply.ts';
import { Body } from './body.ts';
import { compatEvents } from './compat-events.ts';
import { JsonReply } from './json-reply.ts';
import { readId, readTarget } from './path.ts';

export interface CompatDeps {
  readonly handler: RequestHandler;
  readonly calls: Calls;
  /** Prefixes that have the deployment paths, such as `compat` and `openai`. */
  readonly prefixes: readonly string[];
}

const isEmbeddings = /\/embeddings(\/|\?|$)/;

/** `/{prefix}/deployments/{id}/…` and `/v1/…`: chat completions and embeddings. */
export function compatRoutes(app: FastifyInstance, deps: CompatDeps): void {
  for (const prefix of deps.prefixes) {
    const base = `/${prefix}/deployments/`;
    const chat = { operation: 'chat', route: `${base}{id}/chat/completions` } as const;
    const embeddings = { operation: 'embeddings', route: `${base}{id}/embeddings` } as const;
    serveCalls(app, `${base}*`, (raw) => {
      const url = raw.request.url ?? '';
      const facts = isEmbeddings.test(url) ? embeddings : chat;
      return deps.handler.serve(facts, raw, (context) => {
        const target = readTarget(url, base);
        const checksVersion = target.apiVersion !== undefined || prefix === 'compat';
        return serve[target.operation](deps, context, { ...target, checksVersion });
      });
    });
  }
  const byModel = { encodedId: undefined, apiVersion: undefined, checksVersion: false };
  for (const [route, operation] of [
    ['/v1/chat/completions', 'chat'],
    ['/v1/embeddings', 'embeddings'],
  ] as const) {
    serveCalls(app, route, (raw) =>
      deps.handler.serve({ operation, route }, raw, (context) => serve[operation](deps, context, byModel)),
    );
  }
}

interface Asked {
  /** Undefined if the body's `model` names the deployment. */
  readonly encodedId: string | undefined;
  readonly apiVersion: string | undefined;
  readonly checksVersion: boolean;
}

const serve = { chat: serveChat, embeddings: serveEmbeddings };

async function serveChat({ handler, calls }: CompatDeps, context: RequestContext, asked: Asked): Promise<void> {
  const { caller, bytes } = await handler.authenticate(context);
  const body = new Body(bytes);
  const target = await calls.authorize(toCall(context, caller, toDeployment(context, asked, body)), 'chat');
  checkVersion(asked);
  const request = parseChatRequest(body.take());
  const reply = request.stream === true ? new StreamedReply(context, compatEvents) : new JsonReply(context);
  context.follow(calls.answer(target, { request }, reply), reply);
}

async function serveEmbeddings({ handler, calls }: CompatDeps, context: RequestContext, asked: Asked): Promise<void> {
  const { caller, bytes } = await handler.authenticate(context);
  const body = new Body(bytes);
  const target = await calls.authorize(toCall(context, caller, toDeployment(context, asked, body)), 'embedding');
  checkVersion(asked);
  const reply = await calls.embed(target, parseEmbeddingsRequest(body.take()), context.signal);
  context.answeredBy(reply);
  sendJson(context.response, 200, toLatin1(JSON.stringify(reply.body)), context.headers);
}

/** Id of the deployment that is asked for: of the path, or the body's `model`. */
function toDeployment({ record }: RequestContext, { encodedId }: Asked, body: Body): string {
  const deployment = encodedId === undefined ? body.model() : readId(encodedId);
  record.deployment(deployment);
  return deployment;
}

function toCall({ id, record, request }: RequestContext, caller: Caller, deployment: string): Call {
  return { id, deployment, caller, record, origin: request, wantsTrace: request.headers['x-parley-trace'] === 'true' };
}

function checkVersion({ checksVersion, apiVersion = '' }: Asked): void {
  if (checksVersion) checkApiVersion(apiVersion);
}
