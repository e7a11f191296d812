import { type Kysely, PostgresAdapter, type RawBuilder, sql } from 'kysely';
import type { Schema } from '../schema.ts';
import { toIndexWords } from './passage-words.ts';

/** A passage as its words are indexed. */
interface WordsEntry {
  /** Of its row. */
  readonly id: number;
  readonly document: string;
  readonly text: string;
}

/** Which passages are looked for. */
export interface WordsQuery {
  /** At least one; of letters and digits only. */
  readonly words: readonly string[];
  /** At least one. */
  readonly documents: readonly string[];
  readonly limit: number;
}

/** How an engine finds words. */
interface WordSearch {
  add(kysely: Kysely<Schema>, entries: readonly WordsEntry[]): Promise<unknown>;
  /** Puts what was added where it is found fast. */
  settle(kysely: Kysely<Schema>): Promise<unknown>;
  /** A statement that gives the `id` and `score` of the best passages: the less, the better. */
  toFound(query: WordsQuery): RawBuilder<unknown>;
}

export function wordSearchOf(kysely: Kysely<Schema>): WordSearch {
  return kysely.getExecutor().adapter instanceof PostgresAdapter ? inPostgres : inSqlite;
}

const inSqlite: WordSearch = {
  add(kysely, entries) {
    const rows = entries.map(({ id, document, text }) => sql`(${id}, ${document}, ${toIndexWords(text)})`);
    return sql`insert into passage_words (rowid, document, words) values ${sql.join(rows)}`.execute(kysely);
  },

  settle: () => Promise.resolve(),

  toFound({ words, documents, limit }) {
    const match = `document : (${documents.map(quoted).join(' OR ')}) AND words : (${words.map(quoted).join(' OR ')})`;
    return sql`
      select rowid as id, bm25(passage_words, 0.0, 1.0) as score from passage_words where passage_words match ${match}
      order by score, rowid limit ${limit}`;
  },
};

/** A word that more passages have tells little: so many of them are looked at. */
const mostOfWord = 1000;
/** So many passages are compared by how often they have the words. */
const compared = 200;

/**
 * The rarer a word is in these documents, the more a passage counts that has it; how often it has it decides among the best.
 * Each word is looked up by itself: asked for all at once, the engine would rather read every passage.
 */
const inPostgres: WordSearch = {
  add(kysely, entries) {
    const rows = entries.map(
      ({ id, document, text }) => sql`(${id}, ${document}, to_tsvector('english', ${toIndexWords(text)}))`,
    );
    return sql`insert into passage_words (id, document, words) values ${sql.join(rows)}`.execute(kysely);
  },

  /** Else every word of every question goes through a list of what was added last, until the engine finds the time. */
  settle: (kysely) => sql`select gin_clean_pending_list('passage_words_found')`.execute(kysely),

  toFound({ words, documents, limit }) {
    return sql`
      with asked as materialized (
        select distinct quote_literal(lexeme)::tsquery as word from unnest(to_tsvector('english', ${words.join(' ')}))
      ), searched as materialized (
        select coalesce(sum(passages), 0)::float as passages from indexed_documents where id = any(${sql.val(documents)})
      ), found as materialized (
        select ids, ln(1 + searched.passages / cardinality(ids)) as weight from searched, asked cross join lateral (
          select array_agg(id) as ids from (
            select id from passage_words where words @@ asked.word and document = any(${sql.val(documents)}) limit ${mostOfWord}
          ) having_it
        ) looked_up
      ), best as materialized (
        select id, sum(weight) as weight from (select unnest(ids) as id, weight from found) each_found
        group by id order by weight desc, id limit ${compared}
      )
      select id, -weight * (1 + ts_rank(words, to_tsquery('english', ${words.map(quotedWord).join(' | ')}), 1)) as score
      from best join passage_words using (id) order by score, id limit ${limit}`;
  },
};

function quoted(word: string): string {
  return `"${word}"`;
}

function quotedWord(word: string): string {
  return `'${word}'`;
}
