import { createExcerptOfTexts } from '#base/text/create-excerpt.ts';
import type { ChatPage } from '../service/chats.ts';
import type { Conversation } from './conversation.ts';
import { type ConversationSummary, isComplete } from './database.ts';
import { toListedSummary } from './server-sync.ts';
import { includesAll, splitWords } from './split-words.ts';

/** A conversation in which the words stand. */
export interface SearchMatch {
  readonly id: string;
  /** A line around the words, of the first ones that are found. */
  readonly excerpt?: string | undefined;
}

/** How a search tells what it finds. */
export interface Search {
  readonly signal: AbortSignal;
  readonly onMatches: (matches: readonly SearchMatch[]) => void;
}

/** Where a search looks behind the heads that are listed. */
export interface SearchSources {
  readonly summaries: readonly ConversationSummary[];
  /** One of this browser, with all its turns. */
  readonly read: (id: string) => Promise<Conversation | undefined>;
  /** A page of what the service finds; undefined where it has no conversations, or cannot be reached. */
  readonly list: (query: Readonly<Record<string, string>>, signal: AbortSignal) => Promise<ChatPage | undefined>;
  /** Has what the service found listed. */
  readonly addMatches: (matches: readonly ConversationSummary[]) => Promise<void>;
}

const maxPages = 20;
/** Conversations of this browser that a line is read of, and told of at once. */
const maxExcerpts = 100;
const matchesAtOnce = 10;
const prepareMs = 10_000;
const archivedValues = ['false', 'true'];

/** Tells the conversations in which the words stand, those that their heads show too, as far as there is a line to tell of them. */
export async function searchDeep(sources: SearchSources, query: string, search: Search): Promise<void> {
  const words = splitWords(query);
  if (words.length === 0) return;
  const elsewhere = archivedValues.map((archived) => searchService(sources, { query, archived }, search));
  await Promise.all([searchHere(sources, words, search), ...elsewhere]);
}

/**
 * Has the service read what a search will look through: a word that stands nowhere is looked for everywhere. One request for
 * each shelf reads as much as the service keeps for one user.
 */
export async function prepareSearch({ list }: Pick<SearchSources, 'list'>, abortSignal: AbortSignal): Promise<void> {
  const query = crypto.randomUUID();
  const signal = AbortSignal.any([abortSignal, AbortSignal.timeout(prepareMs)]);
  await Promise.all(archivedValues.map((archived) => list({ query, archived, limit: '1' }, signal)));
}

async function searchHere(
  { summaries, read }: SearchSources,
  words: readonly string[],
  { signal, onMatches }: Search,
): Promise<void> {
  let matches: SearchMatch[] = [];
  let excerpts = 0;
  const reportMatches = (): void => {
    if (matches.length > 0 && !signal.aborted) onMatches(matches);
    matches = [];
  };
  for (const { id, title, ...summary } of summaries) {
    const isListed = includesAll(summary.said, words);
    if (isListed ? excerpts >= maxExcerpts : isComplete(summary)) continue;
    if (signal.aborted) return;
    const texts = Object.values((await read(id))?.turns ?? {}).map(({ text }) => text);
    if (!isListed && !includesAll([title, ...texts].join('\n').toLowerCase(), words)) continue;
    excerpts += 1;
    matches.push({ id, excerpt: createExcerptOfTexts(texts, words) });
    if (matches.length >= matchesAtOnce) reportMatches();
  }
  reportMatches();
}

async function searchService(
  { list, addMatches }: SearchSources,
  filter: { readonly query: string; readonly archived: string },
  { signal, onMatches }: Search,
): Promise<void> {
  for (let page = 0, token: string | null = ''; page < maxPages && token !== null; page += 1) {
    const answer: ChatPage | undefined = await list({ ...filter, token, limit: '500', excerpts: String(page === 0) }, signal);
    if (answer === undefined || signal.aborted) return;
    if (answer.data.length > 0) {
      await addMatches(answer.data.map(toListedSummary));
      if (!signal.aborted) onMatches(answer.data);
    }
    token = answer.nextToken;
  }
}
