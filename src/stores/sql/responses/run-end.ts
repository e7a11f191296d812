import { type Kysely, sql } from 'kysely';
import type { Seal } from '#base/secrets/seal.ts';
import type { EndedResponse, EventBatch } from '#domain/responses/response-store.ts';
import type { Schema } from '../schema.ts';
import { appendNewItems } from './conversation-rows.ts';
import { type ResponseStatements, toEndedFields, toEventsContext } from './response-rows.ts';

interface RunEndContext {
  readonly kysely: Kysely<Schema>;
  readonly seal: Seal;
  readonly statements: ResponseStatements;
  /**
   * Rolls the end back. Called if the owning node wrote more events after another node had read the response. Undefined if the
   * owning node ends the response itself, because its last events may already be stored without an acknowledgement.
   */
  readonly rollBack?: ((isEnded: false) => never) | undefined;
  /** Whether all writes of this end may be committed asynchronously. */
  readonly isAsync: boolean;
}

/**
 * Returns whether the end of a response may be committed asynchronously, because only its own client waits for it: it is not a
 * background response and has no conversation.
 */
export function canCommitAsync({ response, turn }: EndedResponse): boolean {
  return turn === undefined && !response.isBackground;
}

/** Writes the end of a response if the node owns it, and returns whether it does. In any case, the run releases its conversation. */
export async function endRun(
  { kysely, seal, statements, rollBack, isAsync }: RunEndContext,
  { response, turn, events }: EndedResponse,
  node: string,
): Promise<boolean> {
  const { id, subject, isBackground } = response;
  // If the node was stalled, another run may have taken the conversation. The items of this run must not follow those of the
  // other run. The conversation is locked before the response, as in all other writes, so that they do not wait for each other.
  const hadConversation = turn !== undefined && (await releaseConversation(kysely, turn.conversation, turn.run));
  const ending = isAsync ? statements.endWithAsyncCommit : statements.end;
  const { rows } = await ending.run(kysely, { ...toEndedFields(seal, response), id, node });
  const isEnded = rows.length > 0;
  // The row is locked from here on. Another node that tries to end the response waits, and then finds that it has ended.
  if (isEnded && isBackground) await writeEvents({ kysely, seal, rollBack }, id, events);
  if (turn !== undefined && isEnded && hadConversation)
    await appendNewItems({ kysely, seal }, { id: turn.conversation, subject }, turn.items);
  return isEnded;
}

/** Releases a conversation if this run holds it. Returns whether it did. */
export async function releaseConversation(kysely: Kysely<Schema>, conversation: string, run: string): Promise<boolean> {
  const released = await kysely
    .updateTable('conversations')
    .set({ run: null, run_owner: null })
    .where('id', '=', conversation)
    .where('run', '=', run)
    .returning('id')
    .executeTakeFirst();
  return released !== undefined;
}

/** Adds the last events of a response and adds the size of all its events to its bytes. */
async function writeEvents(
  { kysely, seal, rollBack }: Pick<RunEndContext, 'kysely' | 'seal' | 'rollBack'>,
  id: string,
  last: EventBatch | undefined,
): Promise<void> {
  if (last !== undefined) {
    const row = toEventRow(seal, id, last);
    const replacement = { last: row.last, sealed_events: row.sealed_events };
    const insertedRow = await kysely
      .insertInto('response_events')
      .values(row)
      .onConflict((conflict) => {
        const sameEvents = conflict.columns(['response', 'first']);
        return rollBack === undefined ? sameEvents.doUpdateSet(replacement) : sameEvents.doNothing();
      })
      .returning('first')
      .executeTakeFirst();
    if (insertedRow === undefined) rollBack?.(false);
  }
  const eventBytes = sql<number>`(select coalesce(sum(length(sealed_events)), 0) from response_events where response = ${id})`;
  await kysely
    .updateTable('responses')
    .set({ bytes: sql<number>`bytes + ${eventBytes}` })
    .where('id', '=', id)
    .execute();
}

export function toEventRow(seal: Seal, id: string, { first, events }: EventBatch) {
  const sealed_events = seal.seal(JSON.stringify(events), toEventsContext(id, first));
  return { response: id, first, last: first + events.length - 1, sealed_events };
}
