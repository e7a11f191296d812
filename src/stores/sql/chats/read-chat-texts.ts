import type { JsonObject } from '#base/json/json.ts';
import type { Seal } from '#base/secrets/seal.ts';
import { listTurnTexts } from '#contract/page/turn-texts.ts';
import type { SqlDatabase } from '../engine/sql-database.ts';
import { openSealedObject } from '../open-sealed.ts';
import type { SearchRow } from './chat-pages.ts';
import { chatStates, openTurn, toChatContext } from './chat-rows.ts';
import type { ChatText } from './chat-texts.ts';

export interface ReadDeps {
  readonly database: SqlDatabase;
  readonly seal: Seal;
}

const turnsPerQuery = 100;
const turnColumns = ['subject', 'chat', 'id', 'sealed_turn'] as const;

/** Returns the texts of a few chats by their IDs. Chats that were deleted in the meantime are omitted. */
export async function readChatTexts(
  { database, seal }: ReadDeps,
  subject: string,
  rows: readonly SearchRow[],
): Promise<ReadonlyMap<string, ChatText>> {
  const ids = rows.map(({ id }) => id);
  const { chats, turns } = await database.run(async (kysely) => ({
    chats: await kysely
      .selectFrom('chats')
      .select(['id', 'sealed_head'])
      .where('subject', '=', subject)
      .where('id', 'in', ids)
      .where('shelf', '<>', chatStates.deleted)
      .execute(),
    turns: await kysely
      .selectFrom('chat_turns')
      .select(turnColumns)
      .where('subject', '=', subject)
      .where('chat', 'in', ids)
      .execute(),
  }));
  const turnsByChat = Map.groupBy(turns, ({ chat }) => chat);
  // Uses the revisions of the list, which was read first. A chat that changed since then has a later revision and is read again.
  const revisions = new Map(rows.map(({ id, revision }) => [id, revision]));
  return new Map(
    chats.map(({ id, sealed_head }) => {
      const fields = openSealedObject(seal, sealed_head, toChatContext('chat', { subject, id }));
      const turnTexts = (turnsByChat.get(id) ?? []).flatMap((turn) => listTurnTexts(openTurn(seal, turn)));
      const text = [toListedText(fields), ...turnTexts].join('\n').toLowerCase();
      return [id, { revision: revisions.get(id) ?? 0, fields, text }];
    }),
  );
}

/** Returns the fields of a chat if it contains every word. Reads a few turns at a time. */
export async function findInLargeChat(
  { database, seal }: ReadDeps,
  { subject, id }: { readonly subject: string; readonly id: string },
  words: readonly string[],
): Promise<JsonObject | undefined> {
  const chat = await database.run((kysely) =>
    kysely
      .selectFrom('chats')
      .select('sealed_head')
      .where('subject', '=', subject)
      .where('id', '=', id)
      .where('shelf', '<>', chatStates.deleted)
      .executeTakeFirst(),
  );
  if (chat === undefined) return undefined;
  const fields = openSealedObject(seal, chat.sealed_head, toChatContext('chat', { subject, id }));
  let missing = removeFound(words, toListedText(fields));
  for (let after = ''; missing.length > 0; ) {
    const turns = await database.run((kysely) =>
      kysely
        .selectFrom('chat_turns')
        .select(turnColumns)
        .where('subject', '=', subject)
        .where('chat', '=', id)
        .where('id', '>', after)
        .orderBy('id')
        .limit(turnsPerQuery)
        .execute(),
    );
    for (const turn of turns) missing = removeFound(missing, listTurnTexts(openTurn(seal, turn)).join('\n'));
    if (turns.length < turnsPerQuery) break;
    after = turns.at(-1)?.id ?? '';
  }
  return missing.length === 0 ? fields : undefined;
}

function toListedText({ title = '', tags = [] }: JsonObject): string {
  return [title, ...(tags as readonly string[])].join('\n');
}

function removeFound(words: readonly string[], text: string): readonly string[] {
  const lower = text.toLowerCase();
  return words.filter((word) => !lower.includes(word));
}
