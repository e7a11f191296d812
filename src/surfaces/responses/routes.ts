import type { FastifyInstance } from 'fastify';
import { toLatin1 } from '#base/latin1.ts';
import type { Seal } from '#base/seal.ts';
import { parseResponsesRequest } from '#contract/responses/responses-request.ts';
import type { Calls, Target } from '#domain/call.ts';
import { Body } from '../http/body.ts';
import { modelErrorDialect } from '../http/error-dialect.ts';
import type { RequestContext } from '../http/request-context.ts';
import type { RequestHandler } from '../http/request-handler.ts';
import { sendJson } from '../http/send-json.ts';
import { serveCalls } from '../http/serve-raw.ts';
import { createRun } from './create-run.ts';
import { keepsNothing, type ResponseKeeper } from './response-keeper.ts';
import { JsonResponse, streamed } from './response-reply.ts';

export interface ResponsesDeps {
  readonly handler: RequestHandler;
  readonly calls: Calls;
  readonly seal: Seal;
  readonly newId: () => string;
  /** Prefixes such as `openai`: what is below `/v1` is below `/openai/v1` too. */
  readonly aliases: readonly string[];
  /** Absent: no response is kept. */
  readonly keeper?: ResponseKeeper;
}

/** `/v1/responses` and what is below it, also below each alias (docs/responses.md). */
export function responsesRoutes(app: FastifyInstance, deps: ResponsesDeps): void {
  for (const base of ['/v1', ...deps.aliases.map((alias) => `/${alias}/v1`)]) {
    const serves = [
      [`${base}/responses`, serveCreate],
      [`${base}/responses/input_tokens`, serveCount],
    ] as const;
    for (const [route, serve] of serves) {
      const facts = { operation: 'chat', route, errorDialect: modelErrorDialect } as const;
      serveCalls(app, route, (raw) => deps.handler.serve(facts, raw, (context) => serve(deps, context)));
    }
  }
}

async function serveCreate(deps: ResponsesDeps, context: RequestContext): Promise<void> {
  const { target, value } = await authorize(deps, context);
  const request = parseResponsesRequest(value);
  const opened = await (deps.keeper ?? keepsNothing).open(target, request);
  const { run, ask, ignored } = createRun({ ...deps, clock: context.clock }, target, { request, opened });
  const reply = request.stream === true ? streamed(context, run, ignored) : new JsonResponse(context, run, ignored);
  context.follow(deps.calls.answer(target, ask, reply), reply);
}

async function serveCount(deps: ResponsesDeps, context: RequestContext): Promise<void> {
  const { target, value } = await authorize(deps, context);
  const request = parseResponsesRequest(value);
  const opened = await (deps.keeper ?? keepsNothing).open(target, request);
  const { run, ask } = createRun({ ...deps, clock: context.clock }, target, { request, opened });
  run.abandon();
  const input_tokens = await deps.calls.countTokens(target, ask, context.signal);
  const body = { object: 'response.input_tokens', input_tokens };
  sendJson(context.response, 200, toLatin1(JSON.stringify(body)), context.headers);
}

interface Authorized {
  readonly target: Target;
  /** Of the body. */
  readonly value: unknown;
}

async function authorize({ handler, calls }: ResponsesDeps, context: RequestContext): Promise<Authorized> {
  const { caller, bytes } = await handler.authenticate(context);
  const body = new Body(bytes);
  const deployment = body.model();
  const { id, record, request } = context;
  record.deployment(deployment);
  const target = await calls.authorize({ id, deployment, caller, record, origin: request }, 'chat');
  return { target, value: body.take() };
}
