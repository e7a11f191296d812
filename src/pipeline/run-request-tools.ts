import { type AddonTools, findAddons, type NamedAddon } from '#agent/addons.ts';
import { runLoop } from '#agent/loop.ts';
import type { LoopOptions } from '#agent/loop-options.ts';
import type { ToolSources } from '#agent/quick-app/load-tools.ts';
import type { RunStates } from '#agent/quick-app/run-state.ts';
import { loadServers } from '#agent/remote-tools.ts';
import { pipeFrom, toAsyncIterable } from '#base/stream/async-items.ts';
import type { Handle, Sink } from '#base/stream/sink.ts';
import type { Clock } from '#base/time/clock.ts';
import type { ChatRequest } from '#contract/chat/chat-request.ts';
import type { Frame, RawFrame } from '#contract/chat/frame.ts';
import type { Configuration } from '#contract/configuration/configuration.ts';
import type { RemoteTools } from '#domain/tools/remote-server.ts';
import { NormalizedCalls } from '#upstreams/normalized-calls.ts';
import { fanOut, sendWithTools } from '#upstreams/protocol-adapters.ts';
import type { PreparedCall, Responder } from './prepared-call.ts';
import { openConversation } from './run-quick-app.ts';

interface LoopDeps {
  readonly clock: Clock;
  /** Returns a random ID. */
  readonly newId: () => string;
  /** Called with the error of a tool. Its details are not disclosed to the client or the model. */
  readonly reportError: (message: string, error: unknown) => void;
}

/** Dependencies of `runAddons`. */
export interface AddonDeps extends LoopDeps {
  readonly addonTools: (configuration: Configuration) => AddonTools;
}

/** Dependencies of `runRemoteTools`. */
export interface RemoteToolsDeps extends LoopDeps {
  readonly toolSources: (configuration: Configuration) => Pick<ToolSources, 'mcp'>;
  readonly states: RunStates;
}

/** How a call with addons reaches the model, and where its reply goes. */
export interface AddonRun {
  readonly callModel: Responder;
  readonly sink: Sink<RawFrame>;
}

/** Runs the agent loop with the tools of the request's addons. `callModel` calls the model. Throws `unknown_addon`. */
export function runAddons(deps: AddonDeps, preparedCall: PreparedCall, { callModel, sink }: AddonRun): Handle {
  const { addons = [], n = 1, ...request } = preparedCall.request;
  const namedAddons = findAddons(preparedCall.target.snapshot.configuration, addons);
  // `request` has no `addons` and `n`, so an upstream with the client's dialect must not receive the original in `nativeRequest`.
  const withoutAddons = { ...preparedCall, request, nativeRequest: undefined };
  if (namedAddons.length === 0) return callModel({ ...withoutAddons, request: { ...request, n } }, sink);
  const run = (choice: Sink<RawFrame>): Handle =>
    sendWithTools(request, { reply: choice, newId: deps.newId }, (toolRequest, reply) =>
      pipeFrom(
        (signal) => runAddonLoop(deps, { ...withoutAddons, request: toolRequest }, { namedAddons, callModel, signal }),
        reply,
      ),
    );
  return n === 1 ? run(sink) : fanOut(n, run, sink);
}

interface AddonLoop {
  readonly callModel: Responder;
  readonly namedAddons: readonly NamedAddon[];
  readonly signal: AbortSignal;
}

async function* runAddonLoop(
  deps: AddonDeps,
  preparedCall: PreparedCall,
  { namedAddons, callModel, signal }: AddonLoop,
): AsyncIterable<Frame> {
  const { call, snapshot } = preparedCall.target;
  const { subject } = call.caller;
  const loaded = await deps.addonTools(snapshot.configuration).load(namedAddons, { signal, subject });
  const sendTurn: SendTurn = (turnRequest, sink) => callModel({ ...preparedCall, request: turnRequest }, sink);
  yield* runLoop({ ...loaded, ...toLoopOptions(deps, preparedCall, { sendTurn, signal, toolOrigin: 'an addon' }) });
}

/** Tools of MCP servers for one call, and where its reply goes. */
export interface RemoteToolsRun {
  readonly remote: RemoteTools;
  /** Answers one turn. */
  readonly responder: Responder;
  readonly sink: Sink<RawFrame>;
}

/** Answers with the tools of the MCP servers that the request names. Parley calls the tools. */
export function runRemoteTools(deps: RemoteToolsDeps, preparedCall: PreparedCall, run: RemoteToolsRun): Handle {
  return pipeFrom((signal) => runRemoteLoop(deps, preparedCall, { ...run, signal }), run.sink);
}

async function* runRemoteLoop(
  deps: RemoteToolsDeps,
  preparedCall: PreparedCall,
  { remote, responder, signal }: RemoteToolsRun & { readonly signal: AbortSignal },
): AsyncIterable<Frame> {
  const { call, deployment, snapshot } = preparedCall.target;
  const { caller } = call;
  const context = { signal, subject: caller.subject, application: '/v1/responses', owner: null, mayRead: () => false };
  const loaded = await loadServers(remote.servers, deps.toolSources(snapshot.configuration), context);
  const prepareTurn = (turnRequest: ChatRequest): PreparedCall => ({
    ...preparedCall,
    request: turnRequest,
    // The request has changed, so an upstream of the client's dialect cannot receive the original.
    nativeRequest: undefined,
    conversation: openConversation(deps.states, { deployment, request: turnRequest, caller }),
  });
  const sendTurn: SendTurn = (turnRequest, sink) => responder(prepareTurn(turnRequest), sink);
  yield* runLoop({
    ...loaded,
    approvedCalls: remote.approvedCalls,
    shouldReturnState: true,
    buildState: ({ inner }) => inner,
    ...toLoopOptions(deps, preparedCall, { sendTurn, signal, toolOrigin: 'an MCP server in a request' }),
  });
}

/** Sends the request of one turn to the model. */
type SendTurn = (request: ChatRequest, sink: Sink<RawFrame>) => Handle;

interface TurnOptions {
  readonly sendTurn: SendTurn;
  readonly signal: AbortSignal;
  /** Origin of the tools, for error messages. */
  readonly toolOrigin: string;
}

function toLoopOptions(
  { clock, newId, reportError }: LoopDeps,
  { target, request }: PreparedCall,
  { sendTurn, signal, toolOrigin }: TurnOptions,
): Omit<LoopOptions, 'tools'> {
  const { call, deployment, snapshot } = target;
  return {
    sendRequest: (turnRequest) =>
      toAsyncIterable<Frame>(
        (sink) => sendTurn(turnRequest, new NormalizedCalls({ newId, messages: turnRequest.messages }, sink)),
        signal,
      ),
    request,
    model: deployment.id,
    id: `chatcmpl-${call.id}`,
    clock,
    signal,
    ...snapshot.configuration.tools,
    onToolError: (tool, error) => reportError(`the tool ${tool} of ${toolOrigin} failed`, error),
  };
}
