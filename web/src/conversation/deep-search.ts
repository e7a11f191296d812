import { excerptOfTexts } from '#base/text/excerpt.ts';
import type { ChatPage } from '../service/chats.ts';
import type { Conversation } from './conversation.ts';
import { type Head, isWhole } from './database.ts';
import { hasAll, wordsOf } from './head-words.ts';
import { toListed } from './server-sync.ts';

/** A conversation in which the words stand. */
export interface Found {
  readonly id: string;
  /** A line around the words, of the first ones that are found. */
  readonly excerpt?: string | undefined;
}

/** How a search tells what it finds. */
export interface Search {
  readonly signal: AbortSignal;
  readonly tell: (found: readonly Found[]) => void;
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
/** Conversations of this browser that a line is read of, and told of at once. */
const mostExcerpts = 100;
const toldAtOnce = 10;
const prepareMs = 10_000;
const shelves = ['false', 'true'];

/** Tells the conversations in which the words stand, those that their heads show too, as far as there is a line to tell of them. */
export async function searchDeep(places: SearchedPlaces, query: string, search: Search): Promise<void> {
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

async function searchHere({ heads, read }: SearchedPlaces, words: readonly string[], { signal, tell }: Search): Promise<void> {
  let found: Found[] = [];
  let excerpts = 0;
  const tellFound = (): void => {
    if (found.length > 0 && !signal.aborted) tell(found);
    found = [];
  };
  for (const { id, title, ...head } of heads) {
    const isListed = hasAll(head.said, words);
    if (isListed ? excerpts >= mostExcerpts : isWhole(head)) continue;
    if (signal.aborted) return;
    const said = Object.values((await read(id))?.turns ?? {}).map(({ text }) => text);
    if (!isListed && !hasAll([title, ...said].join('\n').toLowerCase(), words)) continue;
    excerpts += 1;
    found.push({ id, excerpt: excerptOfTexts(said, words) });
    if (found.length >= toldAtOnce) tellFound();
  }
  tellFound();
}

async function searchShelf(
  { list, listFound }: SearchedPlaces,
  asked: { readonly query: string; readonly archived: string },
  { signal, tell }: Search,
): Promise<void> {
  for (let page = 0, token: string | null = ''; page < mostPages && token !== null; page += 1) {
    const answer: ChatPage | undefined = await list({ ...asked, token, limit: '500', excerpts: String(page === 0) }, signal);
    if (answer === undefined || signal.aborted) return;
    if (answer.data.length > 0) {
      await listFound(answer.data.map(toListed));
      if (!signal.aborted) tell(answer.data);
    }
    token = answer.nextToken;
  }
}
