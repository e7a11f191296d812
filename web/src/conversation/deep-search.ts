import type { ChatPage } from '../service/chats.ts';
import type { Conversation } from './conversation.ts';
import { type Head, isWhole } from './database.ts';
import { hasAll, wordsOf } from './head-words.ts';
import { toListed } from './server-sync.ts';

/** How a search tells what it finds. */
export interface Search<Found> {
  readonly signal: AbortSignal;
  readonly tell: (found: Found) => Promise<void> | undefined;
}

/** Where a search looks behind the heads that are listed. */
export interface SearchedPlaces {
  readonly heads: readonly Head[];
  /** One of this browser, with all its turns. */
  readonly read: (id: string) => Promise<Conversation | undefined>;
  /** A page of what the service finds; undefined where it has no conversations, or cannot be reached. */
  readonly list: (query: Readonly<Record<string, string>>, signal: AbortSignal) => Promise<ChatPage | undefined>;
  /** Has what the service found listed. */
  readonly listFound: (found: readonly Head[]) => Promise<void>;
}

const mostPages = 20;
const prepareMs = 10_000;
const shelves = ['false', 'true'];

/** Tells the ids of conversations in which the words stand behind what their heads have, here and on the service. */
export async function searchDeep(places: SearchedPlaces, query: string, search: Search<readonly string[]>): Promise<void> {
  const words = wordsOf(query);
  if (words.length === 0) return;
  const elsewhere = shelves.map((archived) => searchShelf(places, { query, archived }, search));
  await Promise.all([searchHere(places, words, search), ...elsewhere]);
}

/**
 * Has the service read what a search will look through: a word that stands nowhere is looked for everywhere. One request for
 * each shelf reads as much as the service keeps for one user.
 */
export async function prepareSearch({ list }: Pick<SearchedPlaces, 'list'>, leaving: AbortSignal): Promise<void> {
  const query = crypto.randomUUID();
  const signal = AbortSignal.any([leaving, AbortSignal.timeout(prepareMs)]);
  await Promise.all(shelves.map((archived) => list({ query, archived, limit: '1' }, signal)));
}

async function searchHere(
  { heads, read }: SearchedPlaces,
  words: readonly string[],
  { signal, tell }: Search<readonly string[]>,
): Promise<void> {
  for (const head of heads) {
    if (isWhole(head) || hasAll(head.said, words)) continue;
    if (signal.aborted) return;
    const said = Object.values((await read(head.id))?.turns ?? {}).map(({ text }) => text);
    if (hasAll([head.title, ...said].join('\n').toLowerCase(), words) && !signal.aborted) await tell([head.id]);
  }
}

async function searchShelf(
  { list, listFound }: SearchedPlaces,
  asked: { readonly query: string; readonly archived: string },
  { signal, tell }: Search<readonly string[]>,
): Promise<void> {
  for (let page = 0, token: string | null = ''; page < mostPages && token !== null; page += 1) {
    const answer: ChatPage | undefined = await list({ ...asked, token, limit: '500' }, signal);
    if (answer === undefined || signal.aborted) return;
    if (answer.data.length > 0) {
      await listFound(answer.data.map(toListed));
      if (!signal.aborted) await tell(answer.data.map(({ id }) => id));
    }
    token = answer.nextToken;
  }
}
