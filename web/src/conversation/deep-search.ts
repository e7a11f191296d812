import { createExcerptOfTexts } from '#base/text/truncate.ts';
import { listTurnTexts } from '#contract/page/turn-texts.ts';
import type { ChatPage } from '../service/chats.ts';
import type { Conversation } from './conversation.ts';
import { type ConversationSummary, isUntruncated } from './database.ts';
import { toListedSummary } from './server-sync.ts';
import { includesAll, splitWords } from './split-words.ts';

/** A chat that contains the search words. */
export interface SearchMatch {
  readonly id: string;
  /** The text around the first match. */
  readonly excerpt?: string | undefined;
}

/** Callbacks and options of a search. */
export interface Search {
  readonly signal: AbortSignal;
  readonly onMatches: (matches: readonly SearchMatch[]) => void;
}

/** Data that a search reads: the summaries, the stored chats, and the chats of the service. */
export interface SearchSources {
  readonly summaries: readonly ConversationSummary[];
  /** Reads a stored chat with all turns. */
  readonly readConversation: (id: string) => Promise<Conversation | undefined>;
  /** Loads a page of search results from the service. Undefined if the service stores no chats or cannot be reached. */
  readonly list: (query: Readonly<Record<string, string>>, signal: AbortSignal) => Promise<ChatPage | undefined>;
  /** Adds the matches of the service to the list. */
  readonly addMatches: (matches: readonly ConversationSummary[]) => Promise<void>;
}

const maxPages = 20;
/** Number of matches after which listed chats are no longer read for an excerpt. */
const maxExcerpts = 100;
const matchesPerReport = 10;
const prepareTimeoutMs = 10_000;
const archivedValues = ['false', 'true'];

/**
 * Reports the chats that contain all words of the query. The caller already lists chats whose summary contains them, so they are
 * reported only until there are enough excerpts.
 */
export async function searchDeep(sources: SearchSources, query: string, search: Search): Promise<void> {
  const words = splitWords(query);
  if (words.length === 0) return;
  const serviceSearches = archivedValues.map((archived) => searchService(sources, { query, archived }, search));
  await Promise.all([searchHere(sources, words, search), ...serviceSearches]);
}

/**
 * Makes the service load the data that a search needs, by a search for a word that no chat contains. One request for archived and
 * one for other chats load as much as the service caches for one user.
 */
export async function prepareSearch({ list }: Pick<SearchSources, 'list'>, abortSignal: AbortSignal): Promise<void> {
  const query = crypto.randomUUID();
  const signal = AbortSignal.any([abortSignal, AbortSignal.timeout(prepareTimeoutMs)]);
  await Promise.all(archivedValues.map((archived) => list({ query, archived, limit: '1' }, signal)));
}

async function searchHere(
  { summaries, readConversation }: SearchSources,
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
    if (isListed ? excerpts >= maxExcerpts : isUntruncated(summary)) continue;
    if (signal.aborted) return;
    const texts = Object.values((await readConversation(id))?.turns ?? {}).flatMap(listTurnTexts);
    if (!isListed && !includesAll([title, ...texts].join('\n').toLowerCase(), words)) continue;
    excerpts += 1;
    matches.push({ id, excerpt: createExcerptOfTexts(texts, words) });
    if (matches.length >= matchesPerReport) reportMatches();
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
