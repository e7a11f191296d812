import type { ApplicationEntry } from '#contract/configuration/deployments.ts';
import type { Caller } from '#domain/callers/caller.ts';
import type { ApplicationPlace } from '#domain/deployments/application-place.ts';
import type { StoredApplication } from '#domain/deployments/application-store.ts';
import { preconditionFailed, type WriteCondition } from '#domain/files/write-condition.ts';
import type { AuditRecord } from '#domain/usage/journal.ts';
import type { ApplicationDeps } from './application-deps.ts';

/** An application that is to be written, looked over already. */
export interface Writing {
  readonly caller: Caller;
  readonly place: ApplicationPlace;
  readonly entry: ApplicationEntry;
  readonly condition: WriteCondition;
  readonly requestId: string;
  /** For the audit log. */
  readonly details?: AuditRecord['details'];
}

/** Writes an application, and notes it. Throws `precondition_failed`. */
export async function writeApplication(
  { store, clock, newId, noteAudit }: ApplicationDeps,
  { caller, place: { id, spelling }, entry, condition, requestId, details }: Writing,
): Promise<StoredApplication> {
  const nowMs = clock.epochMs();
  const application = { id, spelling, owner: caller.subject, entry, etag: newId(), createdAtMs: nowMs, updatedAtMs: nowMs };
  const stored = await store.put(application, condition);
  if (stored === undefined) throw preconditionFailed();
  const what = { action: 'application.saved', subject: caller.subject, object: id, requestId };
  noteAudit({ ...what, ...(details !== undefined && { details }) });
  return stored;
}
