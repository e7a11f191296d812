import type { Clock } from '#base/clock.ts';
import { Deferred } from '#base/deferred.ts';
import type { ChatRequest } from '#contract/chat-request.ts';
import { checkCompletedControl } from '#contract/completed-control.ts';
import type { Configuration } from '#contract/configuration/configuration.ts';
import type { Frame } from '#contract/frame.ts';
import type { Caller } from '#domain/callers/caller.ts';
import type { DependencyGraph } from '#domain/consent/dependency-graph.ts';
import type { Catalog } from '#domain/deployments/catalog.ts';
import type { Deployment } from '#domain/deployments/deployment.ts';
import { mayTrace, usdOf } from '#domain/quick-app/application-trace.ts';
import { deploymentsAsTools } from '#domain/quick-app/deployments-as-tools.ts';
import type { QuickApp } from '#domain/quick-app/quick-app.ts';
import { type Conversation, readConversation } from '#runtime/quick-app/conversation.ts';
import { type LoadedTools, loadTools, type ToolSources } from '#runtime/quick-app/load-tools.ts';
import { type QuickAppRun, runQuickApp } from '#runtime/quick-app/run-quick-app.ts';
import type { RunStates } from '#runtime/quick-app/run-state.ts';
import { traceRun } from '#runtime/quick-app/trace-run.ts';
import { mediaTakenBy } from '#runtime/shown-media.ts';
import type { AskDeployment } from '#tools/deployment/deployment-tool.ts';
import { fanOut } from '#upstreams/with-choices.ts';
import { type Answer, toHolder } from './answer.ts';
import type { Answering } from './answering.ts';
import { callInside, type InnerCallDeps } from './inner-call.ts';

export interface QuickAppDeps extends InnerCallDeps {
  readonly clock: Clock;
  readonly catalog: Catalog;
  readonly states: RunStates;
  readonly toolSources: (configuration: Configuration) => ToolSources;
  /** Hears of what an application names that does not exist, in the form of a graph of its own edges. */
  readonly noteGraph: (graph: DependencyGraph) => void;
  /** Hears of tool faults whose reason nobody is told. */
  readonly noteFault: (message: string, thrown: unknown) => void;
}

/** Runs applications without code here; everything else goes on to `answer`. */
export function withQuickApps(answer: Answer, parts: QuickAppDeps): Answer {
  return (answering) => {
    const { deployment, request, call, conversation } = answering;
    const { quickApp } = deployment;
    if (quickApp === undefined || conversation === undefined) return answer(answering);
    const { n = 1, ...single } = request;
    const run = (signal: AbortSignal): AsyncIterable<Frame> => {
      const alone = { ...answering, request: single, call: { ...call, signal } };
      return new Deferred(start(parts, { app: quickApp, conversation, answering: alone }));
    };
    return n === 1 ? run(call.signal) : fanOut(n, call.signal, run);
  };
}

/**
 * The conversation with a quick app, with what its earlier replies remember; undefined for other deployments. Throws
 * invalid_request for a state that is not what this caller was given, and control_not_offered.
 */
export function openConversation(
  states: RunStates,
  { deployment, request, caller }: { deployment: Deployment; request: ChatRequest; caller: Caller },
): Conversation | undefined {
  if (deployment.quickApp === undefined) return undefined;
  const owner = { subject: caller.subject, application: deployment.id };
  const conversation = readConversation(request.messages, (state) => states.read(state, owner));
  checkCompletedControl(request.messages, conversation.controls);
  return conversation;
}

interface Starting {
  readonly app: QuickApp;
  readonly conversation: Conversation;
  readonly answering: Answering;
}

async function start(parts: QuickAppDeps, { app, conversation, answering }: Starting): Promise<AsyncIterable<Frame>> {
  const { call, deployment, snapshot, request } = answering;
  const ask = toAsk(parts, answering);
  const run: QuickAppRun = {
    app,
    tools: conversation.waiting.length > 0 ? noTools : await load(parts, app, answering),
    request,
    conversation,
    askModel: (asked) => ask(app.model)(asked, call.signal),
    takes: mediaTakenBy(snapshot.deployments.get(app.model)),
    toState: (state) => parts.states.write(state, { subject: call.caller.subject, application: deployment.id }),
    id: `chatcmpl-${call.id}`,
    deployment: deployment.id,
    clock: parts.clock,
    signal: call.signal,
    limits: snapshot.configuration.tools,
    onToolFault: (tool, thrown) => parts.noteFault(`the tool ${tool} of ${deployment.id} failed`, thrown),
  };
  const isTraced = call.wantsTrace === true && mayTrace(call.caller, deployment);
  return isTraced ? traceRun(run, (usage) => usdOf(snapshot, usage)) : runQuickApp(run);
}

const noTools: LoadedTools = { tools: [], missing: [] };

async function load(parts: QuickAppDeps, app: QuickApp, answering: Answering): Promise<LoadedTools> {
  const { call, deployment, snapshot } = answering;
  const caller = toHolder(answering);
  const ask = toAsk(parts, answering);
  const { deployments, dangling } = await deploymentsAsTools(deployment, { catalog: parts.catalog, snapshot, caller });
  parts.noteGraph({ deployments: [deployment], dangling });
  const sources = parts.toolSources(snapshot.configuration);
  const mayRead = (file: string): boolean => caller.chain?.files.has(file) === true;
  const owner = deployment.ownership?.owner ?? null;
  const context = { signal: call.signal, subject: caller.subject, application: deployment.id, owner, mayRead };
  return loadTools(app, { deployments, ask: ({ id }) => ask(id) }, { sources, context });
}

function toAsk(parts: QuickAppDeps, answering: Answering): (deployment: string) => AskDeployment {
  return (deployment) => (request, signal) => callInside(parts, answering, { deployment, request, signal });
}
