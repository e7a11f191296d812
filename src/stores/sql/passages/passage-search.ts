import { type Kysely, PostgresAdapter, type RawBuilder, sql } from 'kysely';
import type { Schema } from '../schema.ts';

const maxJoinedChars = 64;
const maxQueryWords = 64;
const compoundPattern = /[\p{L}\p{N}\p{M}]+(?:[-_./:+#&@'’][\p{L}\p{N}\p{M}]+)*/gu;
const notAscii = /[^ -~\s]/;
const partPattern = /[\p{L}\p{N}]+/gu;
const unspaced =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}ー]+/gu;

/** English endings, longest first. */
const endings = ['ing', 'ed', 'es', 'ly', 's', 'e'] as const;
const minStemChars = 3;
const maxIdentifierChars = 256;
const stopWords = new Set(
  'a an and are as at be but by can could did do does for from had has have how i if in is it its me my of on or our shall should so than that the their them then there these they this to us was we were what when where which who whose why will with would you your'.split(
    ' ',
  ),
);

const ordinal = /^\p{N}+(?:st|nd|rd|th|s)$/iu;
const dottedName = /\p{L}\p{L}[._:]\p{L}\p{L}/u;
const upperCaseGroups = /^\p{Lu}+(?:[-/]\p{Lu}+)+$/u;
const innerCapital = /\p{Ll}\p{Lu}/u;

/** A passage to index. */
interface IndexEntry {
  /** ID of the passage's row. */
  readonly id: number;
  readonly document: string;
  readonly text: string;
}

/** Query for passages. */
export interface PassageQuery {
  /** At least one word. Words consist of letters and digits only. */
  readonly words: readonly string[];
  /** At least one document. */
  readonly documents: readonly string[];
  readonly limit: number;
}

/** Full-text search of an engine. */
interface WordSearch {
  add(kysely: Kysely<Schema>, entries: readonly IndexEntry[]): Promise<unknown>;
  /** Merges recent additions into the index, so that they are found quickly. */
  mergeAdditions(kysely: Kysely<Schema>): Promise<unknown>;
  /** Returns a statement that selects the `id` and `score` of the best passages. A lower score is better. */
  buildSearch(query: PassageQuery): RawBuilder<unknown>;
}

export function getWordSearch(kysely: Kysely<Schema>): WordSearch {
  return kysely.getExecutor().adapter instanceof PostgresAdapter ? postgresSearch : sqliteSearch;
}

const sqliteSearch: WordSearch = {
  add(kysely, entries) {
    const rows = entries.map(({ id, document, text }) => sql`(${id}, ${document}, ${toIndexWords(text)})`);
    return sql`insert into passage_words (rowid, document, words) values ${sql.join(rows)}`.execute(kysely);
  },

  mergeAdditions: () => Promise.resolve(),

  buildSearch({ words, documents, limit }) {
    const match = `document : (${documents.map(quote).join(' OR ')}) AND words : (${words.map(quote).join(' OR ')})`;
    return sql`
      select rowid as id, bm25(passage_words, 0.0, 1.0) as score from passage_words where passage_words match ${match}
      order by score, rowid limit ${limit}`;
  },
};

/** Maximum number of passages that are read per word. A word with more passages is of little significance. */
const maxPassagesPerWord = 1000;
/** Maximum number of passages that are ranked by word frequency. */
const maxRankedPassages = 200;

/**
 * Weights each word by its rarity in these documents. The frequency of the words decides among the best passages. Each word is
 * looked up separately, because the engine would read every passage with any of the words if it searched for all words together.
 */
const postgresSearch: WordSearch = {
  add(kysely, entries) {
    const rows = entries.map(
      ({ id, document, text }) => sql`(${id}, ${document}, to_tsvector('english', ${toIndexWords(text)}))`,
    );
    return sql`insert into passage_words (id, document, words) values ${sql.join(rows)}`.execute(kysely);
  },

  /** Without this step, every query scans the list of recent additions until the engine merges it. */
  mergeAdditions: (kysely) => sql`select gin_clean_pending_list('passage_words_found')`.execute(kysely),

  buildSearch({ words, documents, limit }) {
    return sql`
      with query_words as materialized (
        select distinct quote_literal(lexeme)::tsquery as word from unnest(to_tsvector('english', ${words.join(' ')}))
      ), searched as materialized (
        select coalesce(sum(passages), 0)::float as passages from indexed_documents where id = any(${sql.val(documents)})
      ), found as materialized (
        select ids, ln(1 + searched.passages / cardinality(ids)) as weight from searched, query_words cross join lateral (
          select array_agg(id) as ids from (
            select id from passage_words where words @@ query_words.word and document = any(${sql.val(documents)}) limit ${maxPassagesPerWord}
          ) matches
        ) word_matches
      ), best as materialized (
        select id, sum(weight) as weight from (select unnest(ids) as id, weight from found) weighted_ids
        group by id order by weight desc, id limit ${maxRankedPassages}
      )
      select id, -weight * (1 + ts_rank(words, to_tsquery('english', ${words.map((word) => `'${word}'`).join(' | ')}), 1)) as score
      from best join passage_words using (id) order by score, id limit ${limit}`;
  },
};

function quote(word: string): string {
  return `"${word}"`;
}

/**
 * Returns the words of a text for the index of an engine, which splits them at spaces and removes English endings. Diacritics are
 * removed. Codes such as `AB-1234/x` are indexed as one word and in parts. Scripts without spaces are indexed by pairs of
 * characters.
 */
export function toIndexWords(text: string): string {
  return [...splitWords(text)].join(' ');
}

/** Returns the significant words of a query, each once. */
export function toQueryWords(text: string): string[] {
  const all = [...new Set(splitWords(text))];
  const significant = all.filter((word) => !stopWords.has(word));
  return (significant.length > 0 ? significant : all).slice(0, maxQueryWords);
}

/**
 * Returns the words of a query that identify one thing exactly, in their index form: codes and versions (`E4103`, `AB-12/x`),
 * names of files and settings (`a.json`, `max_tokens`), names with inner capitals (`maxTokens`), and numbers of four or more
 * digits.
 */
export function toIdentifiers(text: string): string[] {
  const identifiers = [...text.matchAll(compoundPattern)].map(([word]) => word).filter(isIdentifier);
  return [...new Set(identifiers.flatMap((word) => [...splitWords(word)].slice(0, 1)))].slice(0, maxQueryWords);
}

function isIdentifier(word: string): boolean {
  if (word.length > maxIdentifierChars) return false;
  const hasLetter = /\p{L}/u.test(word);
  const digitCount = word.match(/\p{N}/gu)?.length ?? 0;
  if (hasLetter ? digitCount > 0 && !ordinal.test(word) : digitCount >= 4) return true;
  return dottedName.test(word) || upperCaseGroups.test(word) || innerCapital.test(word);
}

/** Returns the share of the identifiers that a text contains, from 0 to 1. */
export function computeExactShare(identifiers: readonly string[], text: string): number {
  if (identifiers.length === 0) return 0;
  const words = new Set(splitWords(text));
  return identifiers.filter((identifier) => words.has(identifier)).length / identifiers.length;
}

/** Returns the share of the query words that a text contains, from 0 to 1. Ignores English endings. */
export function computeShare(queryWords: readonly string[], text: string): number {
  const stems = new Set<string>();
  for (const word of splitWords(text)) stems.add(toStem(word));
  return queryWords.filter((word) => stems.has(toStem(word))).length / Math.max(1, queryWords.length);
}

function toStem(word: string): string {
  const ending = endings.find((suffix) => word.length - suffix.length >= minStemChars && word.endsWith(suffix)) ?? '';
  return word.slice(0, word.length - ending.length);
}

function* splitWords(text: string): Iterable<string> {
  for (const [match] of normalize(text).matchAll(compoundPattern)) {
    const pieces = match.match(partPattern) ?? [];
    if (pieces.length > 1) {
      // A letter replaces the separator between numbers, so that 3.5 does not match 35.
      const glue = /\p{L}/u.test(match) ? '' : 'd';
      yield pieces.join(glue).slice(0, maxJoinedChars);
    }
    for (const piece of pieces) yield* splitUnspaced(piece);
  }
}

/** Lowercases a text and removes diacritics. ASCII text skips the normalization. */
function normalize(text: string): string {
  const plain = notAscii.test(text)
    ? text
        .normalize('NFKD')
        .replace(/\p{Mn}+/gu, '')
        .normalize('NFC')
    : text;
  return plain.toLowerCase();
}

/** Splits text of scripts without spaces into pairs of characters. */
function* splitUnspaced(piece: string): Iterable<string> {
  if (!notAscii.test(piece)) return yield piece;
  let at = 0;
  for (const run of piece.matchAll(unspaced)) {
    if (run.index > at) yield piece.slice(at, run.index);
    const characters = [...run[0]];
    if (characters.length === 1) yield run[0];
    for (let index = 0; index + 1 < characters.length; index += 1) yield `${characters[index]}${characters[index + 1]}`;
    at = run.index + run[0].length;
  }
  if (at < piece.length) yield piece.slice(at);
}
