import { type AddonTools, findAddons, type NamedAddon } from '#agent/addons.ts';
import { runLoop } from '#agent/loop.ts';
import { pipeFrom, toAsyncIterable } from '#base/stream/async-items.ts';
import type { Handle, Sink } from '#base/stream/sink.ts';
import type { Clock } from '#base/time/clock.ts';
import type { Frame, RawFrame } from '#contract/chat/frame.ts';
import type { Configuration } from '#contract/configuration/configuration.ts';
import { NormalizedCalls } from '#upstreams/normalized-calls.ts';
import { fanOut } from '#upstreams/with-choices.ts';
import { sendWithTools } from '#upstreams/with-functions.ts';
import type { PreparedCall, Responder } from './prepared-call.ts';

export interface AddonDeps {
  readonly addonTools: (configuration: Configuration) => AddonTools;
  readonly clock: Clock;
  /** Returns a random ID. */
  readonly newId: () => string;
  /** Called with a tool error. Its reason is not reported to the client or the model. */
  readonly reportError: (message: string, error: unknown) => void;
}

interface AddonRun {
  readonly callModel: Responder;
  readonly sink: Sink<RawFrame>;
}

/** Runs the agent loop with the tools of the request's addons. `callModel` calls the model. Throws `unknown_addon`. */
export function runAddons(deps: AddonDeps, prepared: PreparedCall, { callModel, sink }: AddonRun): Handle {
  const { addons = [], n = 1, ...request } = prepared.request;
  const { configuration } = prepared.target.snapshot;
  const namedAddons = findAddons(configuration, addons);
  // `request` has no `addons` and `n`, so an upstream with the client's dialect must not receive the original in `native`.
  const withoutAddons = { ...prepared, request, native: undefined };
  if (namedAddons.length === 0) return callModel({ ...withoutAddons, request: { ...request, n } }, sink);
  const run = (reply: Sink<RawFrame>): Handle =>
    sendWithTools(request, { reply, newId: deps.newId }, (inner, inToolReply) =>
      pipeFrom((signal) => loop(deps, { ...withoutAddons, request: inner }, { namedAddons, callModel, signal }), inToolReply),
    );
  return n === 1 ? run(sink) : fanOut(n, run, sink);
}

interface LoopContext {
  readonly callModel: Responder;
  readonly namedAddons: readonly NamedAddon[];
  readonly signal: AbortSignal;
}

async function* loop(
  deps: AddonDeps,
  prepared: PreparedCall,
  { namedAddons, callModel, signal }: LoopContext,
): AsyncIterable<Frame> {
  const { target, request } = prepared;
  const { call, deployment, snapshot } = target;
  const { configuration } = snapshot;
  const { tools, missing } = await deps.addonTools(configuration).load(namedAddons, { signal, subject: call.caller.subject });
  yield* runLoop({
    sendRequest: (inner) =>
      toAsyncIterable<Frame>((sink) => {
        const normalized = new NormalizedCalls({ newId: deps.newId, messages: inner.messages }, sink);
        return callModel({ ...prepared, request: inner }, normalized);
      }, signal),
    request,
    tools,
    missing,
    model: deployment.id,
    id: `chatcmpl-${call.id}`,
    clock: deps.clock,
    signal,
    ...configuration.tools,
    onToolError: (tool, error) => deps.reportError(`Tool ${tool} of an addon failed`, error),
  });
}
