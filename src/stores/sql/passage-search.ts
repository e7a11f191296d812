import { type Kysely, PostgresAdapter, sql } from 'kysely';
import { toIndexWords } from './passage-words.ts';
import type { Schema } from './schema.ts';

/** A passage as its words are indexed. */
interface WordsEntry {
  /** Of its row. */
  readonly id: number;
  readonly document: string;
  readonly text: string;
}

interface WordsQuery {
  /** At least one; of letters and digits only. */
  readonly words: readonly string[];
  /** At least one. */
  readonly documents: readonly string[];
  readonly limit: number;
}

/** How an engine finds words. */
interface WordSearch {
  add(kysely: Kysely<Schema>, entries: readonly WordsEntry[]): Promise<unknown>;
  /** Ids of passages, best first. */
  search(kysely: Kysely<Schema>, query: WordsQuery): Promise<readonly number[]>;
}

export function wordSearchOf(kysely: Kysely<Schema>): WordSearch {
  return kysely.getExecutor().adapter instanceof PostgresAdapter ? inPostgres : inSqlite;
}

const inSqlite: WordSearch = {
  add(kysely, entries) {
    const rows = entries.map(({ id, document, text }) => sql`(${id}, ${document}, ${toIndexWords(text)})`);
    return sql`insert into passage_words (rowid, document, words) values ${sql.join(rows)}`.execute(kysely);
  },

  async search(kysely, { words, documents, limit }) {
    const match = `document : (${documents.map(quoted).join(' OR ')}) AND words : (${words.map(quoted).join(' OR ')})`;
    const { rows } = await sql<{ id: number }>`
      select rowid as id from passage_words where passage_words match ${match}
      order by bm25(passage_words, 0.0, 1.0), rowid limit ${limit}`.execute(kysely);
    return rows.map(({ id }) => id);
  },
};

/** A word that more passages have tells little: so many of them are looked at. */
const mostOfWord = 2000;
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

  async search(kysely, { words, documents, limit }) {
    const { rows } = await sql<{ id: number }>`
      with asked as materialized (
        select distinct quote_literal(lexeme)::tsquery as word from unnest(to_tsvector('english', ${words.join(' ')}))
      ), found as materialized (
        select asked.word, there.id from asked cross join lateral (
          select id from passage_words where words @@ asked.word and document = any(${sql.val(documents)}) limit ${mostOfWord}
        ) there
      ), weights as (
        select word, ln(1 + (select count(distinct id) from found)::float / count(*)) as weight from found group by word
      ), best as materialized (
        select id, sum(weight) as score from found join weights using (word) group by id order by score desc, id limit ${compared}
      )
      select id from best join passage_words using (id)
      order by score * (1 + ts_rank(words, to_tsquery('english', ${words.map(quotedWord).join(' | ')}), 1)) desc, id
      limit ${limit}`.execute(kysely);
    return rows.map(({ id }) => id);
  },
};

function quoted(word: string): string {
  return `"${word}"`;
}

function quotedWord(word: string): string {
  return `'${word}'`;
}
