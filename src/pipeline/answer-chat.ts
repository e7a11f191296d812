import { findAddons } from '#agent/addons.ts';
import { listIgnoredFields } from '#agent/quick-app/client-tools.ts';
import type { RunStates } from '#agent/quick-app/run-state.ts';
import { isJsonObject, type JsonObject } from '#base/json/json.ts';
import type { Handle } from '#base/stream/sink.ts';
import type { Clock } from '#base/time/clock.ts';
import type { ChatRequest } from '#contract/chat/chat-request.ts';
import { checkCompletedControl, listReturnedControls } from '#contract/chat/completed-control.ts';
import type { Calls, ChatInput, ReplySink, Target } from '#domain/calls/call.ts';
import { type Deployment, storesControls } from '#domain/deployments/deployment.ts';
import { prepareRequest } from '#domain/deployments/prepare-request.ts';
import type { NativeRequest } from '#domain/upstreams/upstream.ts';
import { estimatePromptTokens, findMaxTokens } from '#domain/usage/usage.ts';
import { findCallableNames } from '#upstreams/prompt/select-tools.ts';
import { toResponsesRequest } from '#upstreams/responses/to-responses-request.ts';
import { CallAccount } from './call-account.ts';
import { ContentRecorder, recordsContent } from './content-recorder.ts';
import { MeteredReply } from './metered-reply.ts';
import { NormalizedReply } from './normalized-reply.ts';
import type { PreparedCall, Responder } from './prepared-call.ts';
import { type OnRemovedReferences, ReplyFiles } from './reply-files.ts';
import type { QuotaReservation, ReserveQuota } from './reserve-quota.ts';
import { openConversation } from './run-quick-app.ts';
import type { AddonRun, RemoteToolsRun } from './run-request-tools.ts';

/** Dependencies of `createAnswerChat`. */
export interface AnswerChatDeps {
  readonly states: RunStates;
  readonly reserveQuota: ReserveQuota;
  readonly clock: Clock;
  readonly responders: Responders;
  readonly onRemovedReferences: OnRemovedReferences;
  /** Returns a random ID. */
  readonly newId: () => string;
}

/** Functions that answer a call. `selectResponder` chooses one of them. */
export interface Responders {
  /** Calls the upstreams of a model. */
  readonly callUpstreams: Responder;
  /** Calls upstreams that are applications or adapters, with a per-request key. */
  readonly callApplication: Responder;
  readonly runQuickApp: Responder;
  readonly runAddons: (preparedCall: PreparedCall, run: AddonRun) => Handle;
  /** Runs the tools of the MCP servers that the request names. The responder in `run` answers each turn. */
  readonly runRemoteTools: (preparedCall: PreparedCall, run: RemoteToolsRun) => Handle;
}

/**
 * Returns the function that answers authorized chat calls. It checks the request, reserves quota, and pushes the normalized and
 * metered reply.
 */
export function createAnswerChat(deps: AnswerChatDeps): Calls['answer'] {
  return (target, input, reply) => {
    const preparedCall = prepare(deps, target, input);
    const { call, deployment } = target;
    const { request, account } = preparedCall;
    const identity = { id: `chatcmpl-${call.id}`, created: Math.floor(deps.clock.epochMs() / 1000), model: deployment.id };
    const { messages, stream } = request;
    // An application may run its own tools, regardless of the tools in the request.
    const callableNames = deployment.kind === 'model' ? findCallableNames(request) : undefined;
    const facts = { identity, totals: account.usage, isStreamed: stream === true, newId: deps.newId, messages, callableNames };
    const normalized = new NormalizedReply(facts, recordContent(target, input.request, reply));
    const metered = new MeteredReply(target, account, normalized);
    void begin(deps, preparedCall, metered);
    return metered;
  };
}

/**
 * Returns the sink that records the content of a call, or the reply itself if the content is not recorded. `request` is the
 * request of the client, without defaults. If it has `store: false`, the call is marked as private, so that the content of inner
 * calls is not recorded either.
 */
function recordContent(target: Target, request: ChatRequest, reply: ReplySink): ReplySink {
  if (request.store === false) target.call.record.isPrivate = true;
  if (!recordsContent(target)) return reply;
  const recorder = new ContentRecorder(request, target, reply);
  target.call.record.content = recorder;
  return recorder;
}

/** Reserves quota, calls `onAdmitted`, and then starts the answer. If one of the first two steps fails, rejects the reply. */
async function begin(
  { reserveQuota, responders, onRemovedReferences }: AnswerChatDeps,
  preparedCall: PreparedCall,
  metered: MeteredReply,
): Promise<void> {
  const { request, account, onAdmitted } = preparedCall;
  const { promptTokens } = account;
  const quotaRequest = { promptTokens, maxTokens: findMaxTokens(request), isClientConnected: () => !metered.hasEnded };
  let reservation: QuotaReservation | undefined;
  try {
    reservation = await reserveQuota(preparedCall.target, quotaRequest);
    if (onAdmitted !== undefined && !metered.hasEnded) await onAdmitted();
  } catch (error) {
    reservation?.settle?.(undefined);
    return metered.reject(error);
  }
  metered.begin(reservation, (sink) => {
    const files = new ReplyFiles(preparedCall, sink, onRemovedReferences);
    files.follow(selectResponder(responders, preparedCall)(preparedCall, files));
    return files;
  });
}

/**
 * Returns the call with the deployment's defaults in its request. Throws a `ParleyError` if the deployment cannot answer the
 * request, for example because of a type of attachment or an unknown addon.
 */
function prepare({ states }: AnswerChatDeps, target: Target, input: ChatInput): PreparedCall {
  const { call, deployment, snapshot } = target;
  const { request: clientRequest } = input;
  const request = withoutCostOption(prepareRequest(clientRequest, deployment));
  if (request.messages.at(-1)?.custom_content?.completed_control !== undefined) checkControl(request, deployment);
  const { quickApp } = deployment;
  const conversation = quickApp && openConversation(states, { deployment, request, caller: call.caller });
  if (request.addons !== undefined) findAddons(snapshot.configuration, request.addons);
  const promptTokens = estimatePromptTokens(request);
  const includesCost = input.includesCost === true || isCostRequested(clientRequest);
  const account = new CallAccount({ target, request, clientRequest, promptTokens, includesCost });
  if (quickApp !== undefined) account.recordIgnored(listIgnoredFields(quickApp, clientRequest));
  return { ...input, target, account, request, nativeRequest: withNativeDefaults(input.nativeRequest, deployment), conversation };
}

/**
 * Checks the control that the user completed, if Parley knows the offered controls. For an application behind an endpoint, Parley
 * knows them only if the client sends them back.
 */
function checkControl({ messages }: ChatRequest, deployment: Deployment): void {
  if (storesControls(deployment)) return checkCompletedControl(messages);
  const offeredControls = deployment.kind === 'application' ? listReturnedControls(messages) : undefined;
  if (offeredControls !== undefined && deployment.quickApp === undefined) checkCompletedControl(messages, offeredControls);
}

/** Returns the responder for the deployment and the request. */
function selectResponder(responders: Responders, { target: { deployment }, request, remote }: PreparedCall): Responder {
  const callModel = deployment.isApplicationBacked ? responders.callApplication : responders.callUpstreams;
  let responder = callModel;
  if (deployment.quickApp !== undefined) responder = responders.runQuickApp;
  else if (deployment.kind === 'model' && request.addons !== undefined)
    responder = (preparedCall, sink) => responders.runAddons(preparedCall, { callModel, sink });
  return remote === undefined ? responder : (call, sink) => responders.runRemoteTools(call, { remote, responder, sink });
}

/** Fields that a relayed request never takes from the defaults. */
const fieldsWithoutDefaults: ReadonlySet<string> = new Set(['model', 'input', 'store', 'stream', 'include']);

/**
 * Adds the deployment's defaults to a relayed Responses request where it has no value. Requests in other dialects stay unchanged.
 */
function withNativeDefaults(nativeRequest: NativeRequest | undefined, { defaults = {} }: Deployment): NativeRequest | undefined {
  if (nativeRequest?.dialect !== 'responses' || Object.keys(defaults).length === 0) return nativeRequest;
  const translated = Object.entries(toResponsesRequest({ messages: [], ...defaults }, ''));
  const defaultFields = translated.filter(([field]) => !fieldsWithoutDefaults.has(field));
  return { ...nativeRequest, body: mergeDefaults(nativeRequest.body, Object.fromEntries(defaultFields)) };
}

/** Adds the defaults that the body lacks. Objects such as `reasoning` and `text` are completed field by field. */
function mergeDefaults(body: JsonObject, defaults: JsonObject): JsonObject {
  const result = { ...body };
  for (const [field, value] of Object.entries(defaults)) {
    const current = body[field] ?? null;
    if (current === null) result[field] = value;
    else if (isJsonObject(current) && isJsonObject(value)) result[field] = mergeDefaults(current, value);
  }
  return result;
}

/** Returns whether a request asks for `usage.cost`. */
function isCostRequested({ stream_options: options }: ChatRequest): boolean {
  return isJsonObject(options) && options.include_cost === true;
}

/** Returns the request without `include_cost`, which no upstream knows. Returns the original object if it has none. */
function withoutCostOption(request: ChatRequest): ChatRequest {
  const { stream_options: options, ...otherFields } = request;
  if (!isJsonObject(options) || options.include_cost === undefined) return request;
  const { include_cost: _cost, ...remainingOptions } = options;
  return Object.keys(remainingOptions).length === 0 ? otherFields : { ...otherFields, stream_options: remainingOptions };
}
