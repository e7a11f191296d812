import { type Kysely, sql } from 'kysely';
import { parseJson } from '#base/json/json.ts';
import { splitIntoBatches } from '#base/stream/batches.ts';
import type {
  IndexedDocument,
  Lease,
  Passage,
  PassageIndex,
  VectorKey,
  VectorRun,
  WordHit,
} from '#domain/tools/passage-index.ts';
import type { SqlDatabase } from '../engine/sql-database.ts';
import type { Schema } from '../schema.ts';
import {
  computeExactShare,
  computeShare,
  getWordSearch,
  type PassageQuery,
  toIdentifiers,
  toQueryWords,
} from './passage-search.ts';
import type { DocumentRow } from './passage-tables.ts';

/** Number of passages per transaction. A transaction takes a few milliseconds, during which other operations wait. */
const rowsPerStatement = 50;
const dropBatchSize = 500;

/** A passage that a search found. */
interface FoundRow {
  readonly document: string;
  readonly nth: number;
  readonly title: string;
  readonly headings: string;
  readonly text: string;
}

/** The passages of stored files in a table with one row each. Their words are in the full-text index of the engine. */
export class SqlPassageIndex implements PassageIndex {
  readonly #database: SqlDatabase;

  constructor(database: SqlDatabase) {
    this.#database = database;
  }

  async findContent(blob: string): Promise<string | undefined> {
    const row = await this.#database.run((kysely) =>
      kysely.selectFrom('file_contents').select('content').where('blob', '=', blob).executeTakeFirst(),
    );
    return row?.content;
  }

  async recordContent(blob: string, content: string): Promise<void> {
    await this.#database.run((kysely) =>
      kysely
        .insertInto('file_contents')
        .values({ blob, content })
        .onConflict((conflict) => conflict.doNothing())
        .execute(),
    );
  }

  async claim({ name, owner, ...times }: Lease): Promise<boolean> {
    const [nowMs, untilMs] = [this.#database.toStoreMs(times.nowMs), this.#database.toStoreMs(times.untilMs)];
    const claimed = await this.#database.run((kysely) =>
      kysely
        .insertInto('leases')
        .values({ name, owner, until_ms: untilMs })
        .onConflict((conflict) =>
          conflict
            .column('name')
            .doUpdateSet({ owner, until_ms: untilMs })
            .where(({ or, eb }) => or([eb('leases.owner', '=', owner), eb('leases.until_ms', '<', nowMs)])),
        )
        .returning('owner')
        .executeTakeFirst(),
    );
    return claimed !== undefined;
  }

  async release({ name, owner }: Pick<Lease, 'name' | 'owner'>): Promise<void> {
    await this.#database.run((kysely) =>
      kysely.deleteFrom('leases').where('name', '=', name).where('owner', '=', owner).execute(),
    );
  }

  async find(document: string): Promise<IndexedDocument | undefined> {
    const row = await this.#database.run((kysely) =>
      kysely.selectFrom('indexed_documents').selectAll().where('id', '=', document).where('is_whole', '=', 1).executeTakeFirst(),
    );
    return row && toDocument(row);
  }

  async startDocument(document: string, content: string): Promise<void> {
    await this.deleteDocument(document);
    const blank = { title: '', format: '', passages: 0, tokens: 0, note: null, failure: null, is_whole: 0 };
    await this.#database.run((kysely) =>
      kysely
        .insertInto('indexed_documents')
        .values({ id: document, content, ...blank })
        .execute(),
    );
  }

  async addPassages({ id, title }: Pick<IndexedDocument, 'id' | 'title'>, passages: readonly Passage[]): Promise<void> {
    for (const batch of splitIntoBatches(passages, rowsPerStatement)) {
      await this.#database.transact(async (transaction) => {
        const rows = await transaction
          .insertInto('passages')
          .values(batch.map((passage) => ({ ...passage, document: id, headings: JSON.stringify(passage.headings) })))
          .returning(['id', 'nth'])
          .execute();
        const idsByIndex = new Map(rows.map((row) => [row.nth, row.id]));
        const entries = batch.map(({ nth, headings, text }) => {
          return { id: idsByIndex.get(nth) ?? 0, document: id, text: [title, ...headings, text].join('\n') };
        });
        await getWordSearch(transaction).add(transaction, entries);
      });
    }
  }

  async finishDocument(document: IndexedDocument): Promise<boolean> {
    const { id, title, format, passageCount, tokenCount, note = null, failure = null } = document;
    const row = { title, format, passages: passageCount, tokens: tokenCount, note, failure, is_whole: 1 };
    const { numUpdatedRows } = await this.#database.run((kysely) =>
      kysely.updateTable('indexed_documents').set(row).where('id', '=', id).executeTakeFirstOrThrow(),
    );
    // If this fails, the engine merges the words later.
    await this.#database.run((kysely) => getWordSearch(kysely).mergeAdditions(kysely)).catch(() => undefined);
    return numUpdatedRows > 0n;
  }

  async deleteDocument(document: string): Promise<void> {
    await this.#database.run((kysely) => kysely.deleteFrom('passage_vectors').where('document', '=', document).execute());
    let removed = dropBatchSize;
    while (removed === dropBatchSize) removed = await this.#database.run((kysely) => dropBatch(kysely, document));
    await this.#database.run((kysely) => kysely.deleteFrom('indexed_documents').where('id', '=', document).execute());
  }

  async readRange(document: string, from: number, to: number): Promise<readonly Passage[]> {
    const rows = await this.#database.run((kysely) =>
      kysely
        .selectFrom('passages')
        .select(['nth', 'page', 'headings', 'text'])
        .where('document', '=', document)
        .where('nth', '>=', from)
        .where('nth', '<', to)
        .orderBy('nth')
        .execute(),
    );
    return rows.map((row) => ({ ...row, headings: parseJson(row.headings) as string[] }));
  }

  async searchWords(text: string, documents: readonly string[], limit: number): Promise<readonly WordHit[]> {
    const queryWords = toQueryWords(text);
    if (queryWords.length === 0 || documents.length === 0) return [];
    const identifiers = toIdentifiers(text);
    const [identifierRows, wordRows] = await Promise.all([
      identifiers.length === 0 ? [] : this.#find({ words: identifiers, documents, limit }),
      this.#find({ words: queryWords, documents, limit }),
    ]);
    const rows = new Map([...identifierRows, ...wordRows].map((row) => [`${row.document} ${row.nth}`, row]));
    return [...rows.values()]
      .map(({ document, nth, title, headings, text: body }) => {
        const fullText = `${title}\n${headings}\n${body}`;
        return {
          document,
          nth,
          matchedShare: computeShare(queryWords, fullText),
          exactShare: computeExactShare(identifiers, fullText),
        };
      })
      .toSorted((left, right) => right.exactShare - left.exactShare)
      .slice(0, limit);
  }

  async #find(query: PassageQuery): Promise<readonly FoundRow[]> {
    const { rows } = await this.#database.run((kysely) => {
      const match = getWordSearch(kysely).buildSearch(query);
      return sql<FoundRow>`
        select passages.document, nth, title, headings, text from (${match}) found
        join passages on passages.id = found.id join indexed_documents on indexed_documents.id = passages.document
        order by score, found.id`.execute(kysely);
    });
    return rows;
  }

  async addVectors({ document, model }: VectorKey, { first, count, vectors }: VectorRun): Promise<void> {
    const row = { document, model, first, count, vectors: Buffer.from(vectors.buffer, vectors.byteOffset, vectors.byteLength) };
    await this.#database.run((kysely) =>
      kysely
        .insertInto('passage_vectors')
        .values(row)
        .onConflict((conflict) => conflict.columns(['document', 'model', 'first']).doUpdateSet({ count, vectors: row.vectors }))
        .execute(),
    );
  }

  async readVectors({ document, model }: VectorKey): Promise<readonly VectorRun[]> {
    const rows = await this.#database.run((kysely) =>
      kysely
        .selectFrom('passage_vectors')
        .select(['first', 'count', 'vectors'])
        .where('document', '=', document)
        .where('model', '=', model)
        .orderBy('first')
        .execute(),
    );
    return rows.map((row) => ({ ...row, vectors: toFloats(row.vectors) }));
  }

  async countVectors({ document, model }: VectorKey): Promise<number> {
    const { count } = await this.#database.run((kysely) =>
      kysely
        .selectFrom('passage_vectors')
        .select(sql<number>`cast(coalesce(sum(count), 0) as bigint)`.as('count'))
        .where('document', '=', document)
        .where('model', '=', model)
        .executeTakeFirstOrThrow(),
    );
    return count;
  }

  async sweep(): Promise<void> {
    const unused = await this.#database.run(async (kysely) => {
      await sql`delete from file_contents where not exists (select 1 from files where files.blob = file_contents.blob)`.execute(
        kysely,
      );
      return kysely
        .selectFrom('indexed_documents')
        .select('id')
        .where(({ not, exists, selectFrom }) =>
          not(
            exists(
              selectFrom('file_contents').select('blob').whereRef('file_contents.content', '=', 'indexed_documents.content'),
            ),
          ),
        )
        .execute();
    });
    for (const { id } of unused) await this.deleteDocument(id);
    // Deletes vectors without a document, because a document can be deleted while its vectors are computed.
    await this.#database.run((kysely) =>
      kysely
        .deleteFrom('passage_vectors')
        .where(({ not, exists, selectFrom }) =>
          not(
            exists(
              selectFrom('indexed_documents').select('id').whereRef('indexed_documents.id', '=', 'passage_vectors.document'),
            ),
          ),
        )
        .execute(),
    );
  }
}

/** Returns the number of deleted passages. The engine deletes their words too. */
async function dropBatch(kysely: Kysely<Schema>, document: string): Promise<number> {
  const { numDeletedRows } = await kysely
    .deleteFrom('passages')
    .where('id', 'in', (rows) => rows.selectFrom('passages').select('id').where('document', '=', document).limit(dropBatchSize))
    .executeTakeFirstOrThrow();
  return Number(numDeletedRows);
}

function toDocument({ id, title, format, passages, tokens, note, failure }: DocumentRow): IndexedDocument {
  return {
    id,
    title,
    format,
    passageCount: passages,
    tokenCount: tokens,
    note: note ?? undefined,
    failure: failure ?? undefined,
  };
}

/** Returns a copy, because the bytes from an engine may be unaligned in a larger buffer. */
function toFloats(bytes: Uint8Array): Float32Array {
  return new Float32Array(Uint8Array.from(bytes).buffer);
}
