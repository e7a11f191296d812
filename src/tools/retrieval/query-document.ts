import type { Clock } from '#base/clock.ts';
import type { JsonObject } from '#base/json.ts';
import type { IndexedDocument, PassageIndex } from '#domain/tools/passage-index.ts';
import { type Tool, type ToolContext, ToolFault, type ToolResult } from '#domain/tools/tool.ts';
import { awaitReadings } from './await-readings.ts';
import { awaitVectors } from './await-vectors.ts';
import { type GatheringBounds, gatherPassages, gatherWhole } from './gather-passages.ts';
import type { DocumentIndexer } from './indexing/document-indexer.ts';
import type { PassageSearch } from './searching/passage-search.ts';
import type { ShelvedFile } from './shelf.ts';
import type { TextEmbedder } from './text-embedder.ts';
import { toAnswer } from './to-answer.ts';

const longestQuery = 2000;
const mostNamed = 40;
/** Documents that together have no more tokens and passages are shown whole, if there is room for so many bytes. */
const wholeTokens = 8000;
const wholePassages = 100;
const bytesPerToken = 5;

export interface QueryDocumentDeps {
  readonly index: PassageIndex;
  readonly indexer: DocumentIndexer;
  readonly search: PassageSearch;
  readonly embedder: TextEmbedder;
  readonly clock: Clock;
  /** Bytes of a result that the model is shown. */
  readonly maxResultBytes: number;
  readonly bounds: GatheringBounds;
}

/** Looks something up in stored files. */
export function createQueryDocument(files: readonly ShelvedFile[], deps: QueryDocumentDeps): Tool {
  return {
    name: 'query_document',
    description: describe(files),
    parameters: {
      type: 'object',
      properties: {
        query: { type: 'string', description: 'What is looked for, as a complete question or the words that name it.' },
        files: {
          type: 'array',
          items: { type: 'string' },
          description: 'Names of the documents to look in. Absent: all of them.',
        },
      },
      required: ['query'],
    },
    run: (args, context) => lookUp(toQuestion(args, files), { ...deps, context }),
  };
}

function describe(files: readonly ShelvedFile[]): string {
  const names = files.slice(0, mostNamed).map(({ name }) => name);
  const more = files.length > names.length ? ` and ${files.length - names.length} more` : '';
  return `Search the documents of this application for passages that answer a question: ${names.join(', ')}${more}.`;
}

interface Question {
  readonly text: string;
  readonly files: readonly ShelvedFile[];
}

function toQuestion({ query, files: asked }: JsonObject, files: readonly ShelvedFile[]): Question {
  if (typeof query !== 'string' || query.trim() === '') throw new ToolFault('The argument query is missing: it must be a text.');
  const text = query.trim().slice(0, longestQuery);
  const names = (Array.isArray(asked) ? asked : [asked]).filter((name) => typeof name === 'string' && name !== '');
  if (names.length === 0) return { text, files };
  const named = files.filter(({ name, reference }) => names.some((each) => isSame(each, name) || each === reference));
  if (named.length > 0) return { text, files: named };
  throw new ToolFault(`There is no document named ${names.join(' or ').slice(0, 200)}; ${describe(files)}`);
}

function isSame(one: string, other: string): boolean {
  return one.trim().toLowerCase() === other.toLowerCase();
}

async function lookUp({ text, files }: Question, deps: QueryDocumentDeps & { context: ToolContext }): Promise<ToolResult> {
  const { index, indexer, search, embedder, clock, maxResultBytes, bounds, context } = deps;
  const wanted = files.map((shelved) => ({ shelved, reading: indexer.want(shelved.file, embedder) }));
  const { read, notes } = await awaitReadings(wanted, context, clock);
  if (read.length === 0) return { text: notes.join('\n'), attachments: [], failed: true };
  const documents = read.map(({ document }) => document);
  const isSmall = isShownWhole(documents, maxResultBytes);
  const query = { text, documents, embedder, signal: context.signal };
  const early = await search.search(query);
  const hasWaited = !isSmall && !early.byMeaning && (await awaitVectors(documents, deps));
  const { hits, byMeaning } = hasWaited ? await search.search(query) : early;
  const gathering = { index, read, hits };
  const passages = isSmall ? await gatherWhole(gathering) : await gatherPassages(gathering, bounds);
  const byWords = 'Searched by words only: what the passages mean is still being worked out.';
  const allNotes = byMeaning || isSmall ? notes : [...notes, byWords];
  return toAnswer({ passages, notes: allNotes, maxBytes: maxResultBytes, cite: context.cite });
}

function isShownWhole(documents: readonly IndexedDocument[], maxBytes: number): boolean {
  const tokens = documents.reduce((sum, document) => sum + document.tokens, 0);
  const passages = documents.reduce((sum, document) => sum + document.passages, 0);
  return passages <= wholePassages && tokens <= Math.min(wholeTokens, maxBytes / bytesPerToken);
}
