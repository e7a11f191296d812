import type { JsonObject } from '#base/json.ts';
import { ParleyError } from '#contract/errors.ts';
import { type McpMessage, parseMcpToolCall } from '#contract/mcp/message.ts';
import type { Calls } from '#domain/call.ts';
import type { Caller } from '#domain/callers/caller.ts';
import type { Deployment } from '#domain/deployments/deployment.ts';
import type { RequestContext } from '../http/request-context.ts';
import { ask } from './ask.ts';
import { toDiscovered, toInitialized, toStatelessResult, toToolList, toToolName } from './describe.ts';
import type { Outlet } from './outlet.ts';
import { Progress } from './progress.ts';
import { type Era, eraOf, metaOf } from './revision.ts';
import { asRpcFault, RpcFault } from './rpc-fault.ts';
import type { RunningCalls } from './running-calls.ts';

export interface ExchangeDeps {
  readonly calls: Calls;
  readonly running: RunningCalls;
}

const sessionHeader = 'mcp-session-id';

interface ExchangeContext {
  readonly context: RequestContext;
  readonly outlet: Outlet;
  readonly caller: Caller;
  readonly deployment: Deployment;
}

/** One message of a client, and what it is answered. */
export class Exchange {
  readonly #deps: ExchangeDeps;
  readonly #parts: ExchangeContext;

  constructor(deps: ExchangeDeps, parts: ExchangeContext) {
    this.#deps = deps;
    this.#parts = parts;
  }

  /** Rejects with RpcFault. */
  async take(message: McpMessage): Promise<void> {
    const { context, outlet, deployment } = this.#parts;
    if (message.id === undefined) {
      if (message.method === 'notifications/cancelled') this.#cancel(message);
      return outlet.accept();
    }
    const era = eraOf(context.request.headers, message);
    const result = await this.#resultOf(era, message);
    if (result === undefined) return outlet.endUnanswered();
    outlet.answer(message.id, era === 'stateless' ? toStatelessResult(deployment, result) : result);
  }

  /** Undefined for a call that was cancelled. */
  #resultOf(era: Era, message: McpMessage): JsonObject | Promise<JsonObject | undefined> {
    const { deployment, outlet, context } = this.#parts;
    switch (`${era} ${message.method}`) {
      case 'sessions initialize':
        // Nothing is kept under it: it only tells the requests of one client from those of another.
        outlet.addHeader(sessionHeader, context.id);
        return toInitialized(deployment, message.params?.protocolVersion);
      case 'sessions ping':
        return {};
      case 'stateless server/discover':
        return toDiscovered(deployment);
      case 'sessions tools/list':
      case 'stateless tools/list':
        return toToolList(deployment);
      case 'sessions tools/call':
      case 'stateless tools/call':
        return this.#call(message);
      default: {
        const status = era === 'stateless' ? 404 : 200;
        throw new RpcFault('methodNotFound', `There is no method ${message.method.slice(0, 200)}.`, { status });
      }
    }
  }

  async #call(message: McpMessage): Promise<JsonObject | undefined> {
    const { deployment, caller, context, outlet } = this.#parts;
    // What else a client asks for is no use of the deployment.
    context.record.deployment(deployment.id);
    const { name, arguments: args = {} } = asRpcFault('invalidParams', () => parseMcpToolCall(message.params ?? {}), {
      status: 200,
    });
    const known = toToolName(deployment);
    if (name !== known)
      throw new RpcFault('invalidParams', `Unknown tool: ${name.slice(0, 200)}; the one there is is ${known}.`, { status: 200 });
    const { progressToken: token } = metaOf(message);
    const isToken = typeof token === 'string' || typeof token === 'number';
    const progress = isToken && outlet.takesEvents ? new Progress(token, outlet, context.clock) : undefined;
    return this.#deps.running.run(this.#toRunning(message.id), context.signal, (signal) => {
      const call = { id: context.id, deployment: deployment.id, caller, record: context.record, origin: context.request };
      return ask(this.#deps.calls, { context, outlet }, { call, signal, args, progress });
    });
  }

  #cancel({ params }: McpMessage): void {
    const reason = new ParleyError('invalid_request', 'The call was cancelled by its client.');
    this.#deps.running.cancel(this.#toRunning(params?.requestId), reason);
  }

  #toRunning(requestId: unknown) {
    const session = this.#parts.context.request.headers[sessionHeader];
    return { caller: this.#parts.caller, session: typeof session === 'string' ? session : undefined, requestId };
  }
}
