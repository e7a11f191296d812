import { type Conversation, readConversation } from '#agent/quick-app/conversation.ts';
import { loadTools, type ToolSources } from '#agent/quick-app/load-tools.ts';
import { type QuickAppRun, runQuickApp as runApp } from '#agent/quick-app/run-quick-app.ts';
import type { RunStates } from '#agent/quick-app/run-state.ts';
import { traceRun } from '#agent/quick-app/trace-run.ts';
import { getAcceptedMedia } from '#agent/tool-media.ts';
import { pipeFrom } from '#base/stream/async-items.ts';
import type { Handle, Sink } from '#base/stream/sink.ts';
import type { Clock } from '#base/time/clock.ts';
import type { ChatRequest } from '#contract/chat/chat-request.ts';
import { checkCompletedControl } from '#contract/chat/completed-control.ts';
import type { Frame, RawFrame } from '#contract/chat/frame.ts';
import type { Configuration } from '#contract/configuration/configuration.ts';
import { protocols } from '#contract/configuration/protocols.ts';
import type { ContextSettings } from '#contract/configuration/service.ts';
import { canTrace } from '#domain/callers/access.ts';
import type { Caller } from '#domain/callers/caller.ts';
import type { DependencyGraph } from '#domain/consent/dependency-graph.ts';
import type { Catalog } from '#domain/deployments/catalog.ts';
import type { Deployment } from '#domain/deployments/deployment.ts';
import { findDeploymentTools } from '#domain/quick-app/deployments-as-tools.ts';
import type { QuickApp } from '#domain/quick-app/quick-app.ts';
import type { LoadedTools } from '#domain/tools/tool.ts';
import { computePromptBudget } from '#domain/usage/prompt-budget.ts';
import { computeUsd } from '#domain/usage/usage.ts';
import { findVocabulary } from '#domain/usage/vocabulary.ts';
import type { SendToDeployment } from '#tools/deployment/deployment-tool.ts';
import { fanOut } from '#upstreams/protocol-adapters.ts';
import type { InnerCalls } from './inner-calls.ts';
import type { PreparedCall } from './prepared-call.ts';

/** Dependencies of `runQuickApp`. */
export interface QuickAppDeps {
  readonly innerCalls: InnerCalls;
  readonly clock: Clock;
  readonly catalog: Catalog;
  readonly states: RunStates;
  readonly toolSources: (configuration: Configuration) => ToolSources;
  /** Called with the application and its dangling dependencies, as a graph. */
  readonly onDependencyGraph: (graph: DependencyGraph) => void;
  /** Called with the error of a tool. Its details are not disclosed to the client or the model. */
  readonly reportError: (message: string, error: unknown) => void;
}

export function runQuickApp(deps: QuickAppDeps, preparedCall: PreparedCall, sink: Sink<RawFrame>): Handle {
  preparedCall.account.startOwnAnswer();
  const { n = 1, ...request } = preparedCall.request;
  const holder = preparedCall.account.caller;
  const run = (choice: Sink<RawFrame>): Handle =>
    pipeFrom((signal) => startRun(deps, { preparedCall: { ...preparedCall, request }, holder, signal }), choice);
  return n === 1 ? run(sink) : fanOut(n, run, sink);
}

/**
 * Returns the conversation with a quick app, including the state from its earlier replies. Throws `invalid_request` for a state
 * that this caller did not receive, and `control_not_offered` for a completed control that the conversation did not offer.
 */
export function openConversation(
  states: RunStates,
  { deployment, request, caller }: { deployment: Deployment; request: ChatRequest; caller: Caller },
): Conversation {
  const owner = { subject: caller.subject, application: deployment.id };
  const conversation = readConversation(request.messages, (state) => states.readState(state, owner));
  checkCompletedControl(request.messages, conversation.controls);
  return conversation;
}

const noTools: LoadedTools = { tools: [], missing: [] };

/** A run of an application. `holder` is the identity of the application during the run. */
interface ApplicationRun {
  readonly preparedCall: PreparedCall;
  readonly holder: Caller;
  readonly signal: AbortSignal;
}

async function startRun(deps: QuickAppDeps, applicationRun: ApplicationRun): Promise<AsyncIterable<Frame>> {
  const { preparedCall, signal } = applicationRun;
  const { target, request, conversation } = preparedCall;
  const { call, deployment, snapshot } = target;
  const { quickApp: app } = deployment;
  if (app === undefined || conversation === undefined) throw new Error(`${deployment.id} is not a quick app`);
  const startedMs = deps.clock.nowMs();
  const sendToModel = createSender(deps, applicationRun, app.model);
  const model = snapshot.deployments.get(app.model);
  const run: QuickAppRun = {
    app,
    tools: conversation.pendingCalls.length > 0 ? noTools : await loadAppTools(deps, app, applicationRun),
    request,
    conversation,
    sendModelRequest: (modelRequest) => sendToModel(modelRequest, signal),
    acceptedMedia: getAcceptedMedia(model),
    acceptsFormatWithTools: model?.upstreams.every((upstream) => protocols[upstream.protocol].acceptsFormatWithTools(upstream)),
    context: toContext(app, request, model, snapshot.configuration.context),
    sealState: (state) => deps.states.write(state, { subject: call.caller.subject, application: deployment.id }),
    id: `chatcmpl-${call.id}`,
    deployment: deployment.id,
    clock: deps.clock,
    signal,
    limits: snapshot.configuration.tools,
    onToolError: (tool, error) => deps.reportError(`the tool ${tool} of ${deployment.id} failed`, error),
  };
  const isTraced = call.wantsTrace === true && canTrace(call.caller, deployment);
  return isTraced ? traceRun(run, { startedMs, computeCostUsd: (usage) => computeUsd(snapshot, usage) }) : runApp(run);
}

/** Returns the settings that limit the length of the conversation. The application's settings replace those of the service. */
function toContext(
  { context }: QuickApp,
  request: ChatRequest,
  model: Deployment | undefined,
  settings: ContextSettings,
): QuickAppRun['context'] {
  const { strategy, reserveTokens } = { ...settings, ...context };
  const maxTokens = model && computePromptBudget(model, request, reserveTokens);
  return { strategy, maxTokens, vocabulary: model && findVocabulary(model) };
}

async function loadAppTools(deps: QuickAppDeps, app: QuickApp, applicationRun: ApplicationRun): Promise<LoadedTools> {
  const { preparedCall, holder: caller, signal } = applicationRun;
  const { deployment, snapshot } = preparedCall.target;
  const { deployments, dangling } = await findDeploymentTools(deployment, { catalog: deps.catalog, snapshot, caller });
  // A draft must not replace the findings for the saved application.
  if (preparedCall.target.call.draft === undefined) deps.onDependencyGraph({ deployments: [deployment], dangling });
  const sources = deps.toolSources(snapshot.configuration);
  const mayRead = (file: string): boolean => caller.chain?.rights.allows('READ', file) === true;
  const owner = deployment.ownership?.owner ?? null;
  const context = { signal, subject: caller.subject, application: deployment.id, owner, mayRead };
  const deploymentTools = { deployments, createSender: ({ id }: Deployment) => createSender(deps, applicationRun, id) };
  return loadTools(app, deploymentTools, { sources, context, clock: deps.clock });
}

/** Returns the function that sends requests of the application to a deployment. */
function createSender(
  { innerCalls }: QuickAppDeps,
  { preparedCall, holder: caller }: ApplicationRun,
  deployment: string,
): SendToDeployment {
  return (request, signal) => innerCalls.callFor(preparedCall, { caller, deployment, request, signal });
}
