import type { Seal } from '#base/secrets/seal.ts';
import { chatStates, toChatContext, toTurnRow } from '#stores/sql/chats/chat-rows.ts';
import type { ChatRow, ChatTurnRow } from '#stores/sql/chats/chat-tables.ts';
import type { SqlDatabase } from '#stores/sql/engine/sql-database.ts';

/** Maximum number of rows of eight columns that one statement of either engine accepts. */
const chatsPerStatement = 500;

export interface FilledUser {
  readonly subject: string;
  readonly chats: number;
}

interface FillParts {
  readonly database: SqlDatabase;
  readonly seal: Seal;
  readonly nowMs: number;
}

/** Returns a word that occurs only in chat `at` of a user. */
export function toUniqueWord(at: number): string {
  return `number${at}x`;
}

export function toChatId(at: number): string {
  return `chat${at.toString(36).padStart(6, '0')}`;
}

/** Writes chats of one question and one answer, one hour apart. Bypasses the store, which writes one chat at a time. */
export async function fillUser({ database, seal, nowMs }: FillParts, { subject, chats }: FilledUser): Promise<void> {
  let revision = 0;
  for (let first = 0; first < chats; first += chatsPerStatement) {
    const rows: ChatRow[] = [];
    const turns: ChatTurnRow[] = [];
    for (let at = first; at < Math.min(chats, first + chatsPerStatement); at += 1) {
      const chatRef = { subject, id: toChatId(at) };
      revision += 1;
      const updatedAtMs = nowMs - at * 3_600_000;
      const head = { title: `Conversation ${at} about the harvest`, deployment: 'demo', createdAtMs: updatedAtMs };
      const question = { id: 'q', parent: '', kind: 'question', atMs: updatedAtMs, text: `What became of ${toUniqueWord(at)}?` };
      const text = 'a reply of some hundred characters in plain words about the item '.repeat(6);
      const answer = { id: 'a', parent: 'q', kind: 'reply', atMs: updatedAtMs + 1, deployment: 'demo', state: 'done', text };
      const turnRows = [question, answer].map((turn) => toTurnRow(seal, chatRef, { turn: turn as never, revision }));
      turns.push(...turnRows);
      rows.push({
        ...chatRef,
        ...{ revision, shelf: chatStates.listed, updated_at_ms: updatedAtMs },
        bytes: turnRows.reduce((sum, row) => sum + row.bytes, 0),
        sealed_head: seal.seal(JSON.stringify(head), toChatContext('chat', chatRef)),
        sealed_rest: seal.seal('{"shown":{"":"q","q":"a"}}', toChatContext('rest', chatRef)),
      });
    }
    await database.transact(async (transaction) => {
      await transaction.insertInto('chats').values(rows).execute();
      await transaction.insertInto('chat_turns').values(turns).execute();
    });
  }
  const owner = { subject, revision, forgotten_revision: 0, bytes: 0 };
  await database.run((kysely) => kysely.insertInto('chat_owners').values(owner).execute());
}
