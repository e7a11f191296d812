import { setImmediate } from 'node:timers/promises';
import { excerptOfTexts } from '#base/text/excerpt.ts';
import type { ChatHead } from '#domain/chats/chat-store.ts';
import { openTurn } from './chat-rows.ts';
import type { ReadDeps } from './read-chat-texts.ts';

interface Found {
  readonly subject: string;
  readonly heads: readonly ChatHead[];
  /** In lower case. */
  readonly words: readonly string[];
  /** Ends the work once nobody waits for it. */
  readonly signal?: AbortSignal | undefined;
}

const mostExcerpts = 100;
/** What is decrypted for them at most: chats that do not fit have none. */
const mostBytes = 4 * 1024 ** 2;
const turnColumns = ['subject', 'chat', 'id', 'sealed_turn'] as const;

/** A line of each of the first chats that were found, by their ids: of the first turn with as many of the words as can be. */
export async function readExcerpts(
  deps: ReadDeps,
  { subject, heads, words, signal }: Found,
): Promise<ReadonlyMap<string, string>> {
  const { database, seal } = deps;
  const ids = await fittingIds(deps, subject, heads);
  if (ids.length === 0) return new Map();
  const rows = await database.run((kysely) =>
    kysely.selectFrom('chat_turns').select(turnColumns).where('subject', '=', subject).where('chat', 'in', ids).execute(),
  );
  const excerpts = new Map<string, string>();
  for (const [chat, turns] of Map.groupBy(rows, (row) => row.chat)) {
    // Streams go on meanwhile.
    await setImmediate();
    signal?.throwIfAborted();
    const said = turns.map((turn) => openTurn(seal, turn)).sort((one, other) => Number(one.atMs) - Number(other.atMs));
    const line = excerptOfTexts(
      said.map(({ text }) => String(text)),
      words,
    );
    if (line !== undefined) excerpts.set(chat, line);
  }
  return excerpts;
}

async function fittingIds({ database }: ReadDeps, subject: string, heads: readonly ChatHead[]): Promise<readonly string[]> {
  const ids = heads.slice(0, mostExcerpts).map(({ id }) => id);
  const sizes = await database.run((kysely) =>
    kysely.selectFrom('chats').select(['id', 'bytes']).where('subject', '=', subject).where('id', 'in', ids).execute(),
  );
  const bytesById = new Map(sizes.map(({ id, bytes }) => [id, bytes]));
  let left = mostBytes;
  return ids.filter((id) => {
    const bytes = bytesById.get(id) ?? 0;
    const isFitting = bytes <= left;
    if (isFitting) left -= bytes;
    return isFitting;
  });
}
