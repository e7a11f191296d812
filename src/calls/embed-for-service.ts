import type { Clock } from '#base/clock.ts';
import type { JsonObject } from '#base/json.ts';
import type { EmbeddingsRequest } from '#contract/embeddings-request.ts';
import { type ParleyError, toParleyError } from '#contract/errors.ts';
import type { Calls, EmbeddingsReply } from '#domain/call.ts';
import type { Caller } from '#domain/callers/caller.ts';
import { subjectPrefixes } from '#domain/callers/subjects.ts';
import type { Deployment } from '#domain/deployments/deployment.ts';
import type { Telemetry } from '#domain/telemetry.ts';
import { toInnerEnd } from './to-inner-end.ts';

export interface ServiceEmbedDeps {
  readonly calls: () => Calls;
  readonly telemetry: Telemetry;
  readonly clock: Clock;
  readonly newId: () => string;
}

/** What the service embeds for itself: passages that all applications share. */
export interface ServiceEmbed {
  readonly deployment: Deployment;
  readonly request: EmbeddingsRequest;
  readonly signal: AbortSignal;
}

/** Asks an embedding deployment as the service itself, past its user roles, counted under a subject of its own. Rejects with a ParleyError. */
export async function embedForService(
  tools: ServiceEmbedDeps,
  { deployment, request, signal }: ServiceEmbed,
): Promise<JsonObject> {
  const { calls, telemetry, clock, newId } = tools;
  const id = newId();
  const caller: Caller = {
    subject: `${subjectPrefixes.service}retrieval`,
    project: 'parley',
    roles: deployment.userRoles ?? [],
    chain: null,
  };
  const start = { operation: 'embeddings', route: undefined, requestId: id } as const;
  const record = telemetry.begin({ ...start, traceparent: undefined, tracestate: undefined, atMs: clock.nowMs() });
  record.caller = caller;
  record.deployment(deployment.id);
  let reply: EmbeddingsReply | undefined;
  let error: ParleyError | undefined;
  try {
    const target = await calls().authorize({ id, deployment: deployment.id, caller, record }, 'embedding');
    reply = await calls().embed(target, request, signal);
    return reply.body;
  } catch (thrown) {
    error = toParleyError(thrown);
    throw thrown;
  } finally {
    record.end(toInnerEnd({ error, used: reply?.used() ?? [], isLeft: signal.aborted, atMs: clock.nowMs() }));
  }
}
