import { runLoop } from '#agent/loop.ts';
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
import type { PreparedCall, Responder } from './prepared-call.ts';
import { openConversation } from './run-quick-app.ts';

export interface RemoteToolsDeps {
  readonly toolSources: (configuration: Configuration) => Pick<ToolSources, 'mcp'>;
  readonly states: RunStates;
  readonly clock: Clock;
  /** Returns a random ID. */
  readonly newId: () => string;
  /** Called with the error of a tool, whose reason is not reported to the client or the model. */
  readonly reportError: (message: string, error: unknown) => void;
}

/** Answers with the tools of the MCP servers that the request names. Parley calls the tools. */
export function runRemoteTools(deps: RemoteToolsDeps, prepared: PreparedCall, run: Run): Handle {
  return pipeFrom((signal) => loop(deps, prepared, { ...run, signal }), run.sink);
}

interface Run {
  readonly remote: RemoteTools;
  /** Answers one turn. */
  readonly answer: Responder;
  readonly sink: Sink<RawFrame>;
}

async function* loop(
  deps: RemoteToolsDeps,
  prepared: PreparedCall,
  { remote, answer, signal }: Run & { readonly signal: AbortSignal },
): AsyncIterable<Frame> {
  const { target, request } = prepared;
  const { call, deployment, snapshot } = target;
  const { configuration } = snapshot;
  const { caller } = call;
  const context = { signal, subject: caller.subject, application: '/v1/responses', owner: null, mayRead: () => false };
  const loaded = await loadServers(remote.servers, deps.toolSources(configuration), context);
  const prepareTurn = (turnRequest: ChatRequest): PreparedCall => ({
    ...prepared,
    request: turnRequest,
    // The request has changed, so an upstream of the client's dialect cannot receive the original.
    native: undefined,
    conversation: openConversation(deps.states, { deployment, request: turnRequest, caller }),
  });
  yield* runLoop({
    sendRequest: (turnRequest) =>
      toAsyncIterable<Frame>((sink) => {
        const ids = { newId: deps.newId, messages: turnRequest.messages };
        return answer(prepareTurn(turnRequest), new NormalizedCalls(ids, sink));
      }, signal),
    request,
    ...loaded,
    approvedCalls: remote.approved,
    shouldReturnState: true,
    buildState: ({ inner }) => inner,
    model: deployment.id,
    id: `chatcmpl-${call.id}`,
    clock: deps.clock,
    signal,
    ...configuration.tools,
    onToolError: (tool, error) => deps.reportError(`Tool ${tool} of an MCP server in a request failed`, error),
  });
}
