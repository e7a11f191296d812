import type { JsonObject } from '#base/json/json.ts';
import { truncate } from '#base/text/truncate.ts';
import type { Clock } from '#base/time/clock.ts';
import type { FileIndex } from '#domain/files/file-index.ts';
import { StoreError } from '#domain/store-error.ts';
import type { TextEmbedder } from '#domain/tools/embedder.ts';
import type { IndexedDocument, Passage, PassageIndex } from '#domain/tools/passage-index.ts';
import {
  type Attachment,
  citationInstruction,
  type LoadedTools,
  type Tool,
  type ToolContext,
  ToolError,
  type ToolResult,
} from '#domain/tools/tool.ts';
import { openDocumentSet, type SearchableFile } from './document-set.ts';
import type { DocumentIndexer } from './indexing/document-indexer.ts';
import { awaitIndexing, countVectors, type IndexedSource } from './indexing-progress.ts';
import type { PassageSearch, ScoredHit } from './passage-search.ts';

const maxQueryChars = 2000;
const maxListedNames = 40;
/** Maximum number of characters of unknown names in an error message. */
const maxNamesChars = 200;
/** Maximum number of tokens of documents that are returned completely. `maxCompletePassages` and the result size also apply. */
const maxCompleteTokens = 8000;
const maxCompletePassages = 100;
const bytesPerToken = 5;

export interface QueryDocumentDeps {
  readonly index: PassageIndex;
  readonly indexer: DocumentIndexer;
  readonly search: PassageSearch;
  readonly embedder: TextEmbedder;
  readonly clock: Clock;
  /** Maximum number of bytes of a result in the conversation of the model. */
  readonly maxResultBytes: number;
  readonly bounds: GatheringBounds;
}

/**
 * Returns the tool that searches an application's files, and the list of missing files. Starts indexing the files in the
 * background. Throws `ToolError` if the file index is unavailable.
 */
export async function loadDocumentTools(
  references: readonly string[],
  owner: string | null,
  deps: QueryDocumentDeps & { readonly files: FileIndex },
): Promise<LoadedTools> {
  const { files, missing } = await openDocumentSet(references, owner, deps.files).catch(toToolError);
  if (files.length === 0) return { tools: [], missing };
  for (const { file } of files) deps.indexer.requestIndexing(file, deps.embedder);
  return { tools: [createQueryDocument(files, deps)], missing };
}

function toToolError(error: unknown): never {
  throw error instanceof StoreError ? new ToolError('The index of stored files is unavailable. Try again later.', error) : error;
}

/** Creates the tool that searches stored files. */
function createQueryDocument(files: readonly SearchableFile[], deps: QueryDocumentDeps): Tool {
  return {
    name: 'query_document',
    description: formatDescription(files),
    parameters: {
      type: 'object',
      properties: {
        query: { type: 'string', description: 'The search as a complete question, or as words.' },
        files: {
          type: 'array',
          items: { type: 'string' },
          description: 'Names of the documents to search. If absent, all documents are searched.',
        },
      },
      required: ['query'],
    },
    run: (args, context) => runSearch(toSearchRequest(args, files), { ...deps, context }),
  };
}

function formatDescription(files: readonly SearchableFile[]): string {
  const names = files.slice(0, maxListedNames).map(({ name }) => name);
  const suffix = files.length > names.length ? ` and ${files.length - names.length} more` : '';
  return `Search the documents of this application for passages that answer a question: ${names.join(', ')}${suffix}.`;
}

type SearchDeps = QueryDocumentDeps & { readonly context: ToolContext };

/** The words or question of the model, and the files to search. */
interface SearchRequest {
  readonly text: string;
  readonly files: readonly SearchableFile[];
}

function toSearchRequest({ query, files: requestedNames }: JsonObject, files: readonly SearchableFile[]): SearchRequest {
  if (typeof query !== 'string' || query.trim() === '') throw new ToolError('The argument query is missing: it must be a text.');
  const text = query.trim().slice(0, maxQueryChars).toWellFormed();
  const names = (Array.isArray(requestedNames) ? requestedNames : [requestedNames]).filter(
    (name) => typeof name === 'string' && name !== '',
  );
  if (names.length === 0) return { text, files };
  const isSameName = (requested: string, name: string): boolean => requested.trim().toLowerCase() === name.toLowerCase();
  const matches = files.filter(({ name, reference }) =>
    names.some((requested) => isSameName(requested, name) || requested === reference),
  );
  if (matches.length > 0) return { text, files: matches };
  throw new ToolError(`There is no document named ${truncate(names.join(' or '), maxNamesChars)}; ${formatDescription(files)}`);
}

async function runSearch({ text, files }: SearchRequest, deps: SearchDeps): Promise<ToolResult> {
  const { index, indexer, search, embedder, clock, maxResultBytes, bounds, context } = deps;
  const pending = files.map((source) => ({ source, task: indexer.requestIndexing(source.file, embedder) }));
  const { sources, notes } = await awaitIndexing(pending, context, clock);
  if (sources.length === 0) return { text: notes.join('\n'), attachments: [], failed: true };
  const documents = sources.map(({ document }) => document);
  const isSmall = canReturnAll(documents, maxResultBytes);
  const query = { text, documents, embedder, signal: context.signal };
  const firstResult = await search.search(query);
  const hasMoreVectors = !isSmall && !firstResult.hasAllVectors && (await awaitVectors(documents, deps));
  const { hits, hasAllVectors } = hasMoreVectors ? await search.search(query) : firstResult;
  const gathering = { index, sources, hits };
  const passages = isSmall ? await gatherAll(gathering) : await gatherPassages(gathering, bounds);
  const wordsOnlyNote = 'Searched by words only, because the vectors of the passages are not ready.';
  const allNotes = hasAllVectors || isSmall ? notes : [...notes, wordsOnlyNote];
  return toAnswer({ passages, notes: allNotes, maxBytes: maxResultBytes, cite: context.cite });
}

function canReturnAll(documents: readonly IndexedDocument[], maxBytes: number): boolean {
  const tokens = documents.reduce((sum, document) => sum + document.tokenCount, 0);
  const passages = documents.reduce((sum, document) => sum + document.passageCount, 0);
  return passages <= maxCompletePassages && tokens <= Math.min(maxCompleteTokens, maxBytes / bytesPerToken);
}

/** Maximum time that a search waits for vectors. */
const maxWaitMs = 120_000;
const pollIntervalMs = 500;
const reportIntervalMs = 2000;

/**
 * Waits until all passages have vectors, and reports the progress. Returns whether more vectors exist than before. Does not
 * wait for a failing model. Throws `StoreError`, or the reason of the signal.
 */
async function awaitVectors(documents: readonly IndexedDocument[], deps: SearchDeps): Promise<boolean> {
  const { indexer, embedder, clock, context } = deps;
  const total = documents.reduce((sum, { passageCount }) => sum + passageCount, 0);
  const startedMs = clock.nowMs();
  const initiallyDone = await countVectors(documents, deps);
  let done = initiallyDone;
  let reportedMs = Number.NEGATIVE_INFINITY;
  while (done < total && indexer.canCreateVectors(embedder) && clock.nowMs() - startedMs < maxWaitMs) {
    if (clock.nowMs() - reportedMs >= reportIntervalMs) {
      reportedMs = clock.nowMs();
      await context.report({ content: `Preparing the search by meaning: ${done} of ${total} passages.\n\n` });
    }
    await clock.sleep(pollIntervalMs, context.signal);
    done = await countVectors(documents, deps);
  }
  return done > initiallyDone;
}

const maxExcerptChars = 2000;
const noMatchText = 'Nothing in the documents fits this question. Try other words, or say that the documents do not tell.';
/** Number of bytes that are reserved for notes and separators. */
const reservedBytes = 1000;
/** Number of bytes for a citation mark and the line breaks after a passage. */
const markBytes = 10;

interface AnswerOptions {
  readonly passages: readonly PassageGroup[];
  readonly notes: readonly string[];
  /** Maximum number of bytes of the text. */
  readonly maxBytes: number;
  readonly cite: ToolContext['cite'];
}

/** Returns the text for the model. Each group of passages has a number to cite it by. */
function toAnswer({ passages, notes, maxBytes, cite }: AnswerOptions): ToolResult {
  const parts = numberPassages(passages, { maxBytes: maxBytes - reservedBytes, cite });
  const sections = parts.length === 0 ? [noMatchText] : [...parts, citationInstruction];
  return { text: [...sections, ...notes.map((note) => `Note: ${note}`)].join('\n\n'), attachments: [], failed: false };
}

/** Returns as many groups as fit, in order. Omits the heading of a group if the previous group has the same one. */
function numberPassages(
  passages: readonly PassageGroup[],
  { maxBytes, cite }: Pick<AnswerOptions, 'maxBytes' | 'cite'>,
): string[] {
  const parts: string[] = [];
  let remainingBytes = maxBytes;
  let previousHeading = '';
  for (const { source, passages: group, quoted, isBest } of passages) {
    const heading = formatHeading(source, group[0] ?? quoted);
    const text = group.map((passage) => passage.text).join('\n');
    const section = heading === previousHeading ? text : `${heading}\n${text}`;
    const bytes = Buffer.byteLength(section) + markBytes;
    if (bytes > remainingBytes) continue;
    remainingBytes -= bytes;
    previousHeading = heading;
    parts.push(`[${cite({ attachment: toCitation(source, quoted), text, isBest })}] ${section}`);
  }
  return parts;
}

function formatHeading(source: IndexedSource, first: Passage): string {
  const headings = first.headings.length === 0 ? '' : ` — ${first.headings.join(' › ')}`;
  return `${formatLocation(source, first, 'page')}${headings}`;
}

/** Returns a location such as `report.pdf, p. 3`. */
function formatLocation({ name, document }: IndexedSource, { page }: Passage, pageWord: string): string {
  if (page === null) return name;
  const unit = document.format === 'pptx' ? 'slide' : document.format === 'xlsx' ? 'sheet' : pageWord;
  return `${name}, ${unit} ${page}`;
}

function toCitation(source: IndexedSource, passage: Passage): Attachment {
  const { text, page } = passage;
  return {
    type: 'text/markdown',
    title: formatLocation(source, passage, 'p.'),
    data: truncate(text, maxExcerptChars),
    reference_type: source.file.contentType,
    reference_url: page === null ? source.reference : `${source.reference}#page=${page}`,
  };
}

/** Maximum number of passages per citation number. The user sees only one of them as the quotation. */
const maxJoined = 6;

/** Consecutive passages that the model reads under one citation number. */
interface PassageGroup {
  readonly source: IndexedSource;
  /** At least one passage. */
  readonly passages: readonly Passage[];
  /** The passage that is quoted to the user. */
  readonly quoted: Passage;
  /** Whether it is the best hit. */
  readonly isBest: boolean;
}

interface GatheringInput {
  readonly index: PassageIndex;
  readonly sources: readonly IndexedSource[];
  /** Hits, best first. */
  readonly hits: readonly ScoredHit[];
}

interface GatheringBounds {
  /** Maximum number of hits to return. Neighboring passages do not count. */
  readonly passages: number;
  /** Minimum score of a hit, from 0 to 1. */
  readonly minScore: number;
}

/**
 * Returns the best passages with their neighbors of the same section, without duplicates. Joins consecutive passages. Throws
 * `StoreError`.
 */
async function gatherPassages({ index, sources, hits }: GatheringInput, bounds: GatheringBounds): Promise<PassageGroup[]> {
  const groups: PassageGroup[] = [];
  const usedKeys = new Set<string>();
  let remaining = bounds.passages;
  for (const { document, nth: position, score } of hits) {
    if (remaining === 0) break;
    // Several files may have the same content. The first of them is cited.
    const source = sources.find((candidate) => candidate.document.id === document);
    if (source === undefined || score < bounds.minScore || usedKeys.has(`${document} ${position}`)) continue;
    const neighbors = await index.readRange(document, position - 1, position + 2);
    const quoted = neighbors.find((passage) => passage.nth === position);
    if (quoted === undefined) continue;
    const passages = neighbors.filter((passage) => isSameSection(passage, quoted) && !usedKeys.has(`${document} ${passage.nth}`));
    for (const passage of passages) usedKeys.add(`${document} ${passage.nth}`);
    addGroup(groups, { source, passages, quoted, isBest: groups.length === 0 });
    remaining -= 1;
  }
  return groups;
}

/** Joins a group with an adjacent one, or adds it. */
function addGroup(groups: PassageGroup[], next: PassageGroup): void {
  const index = groups.findIndex((group) => isAdjacent(group, next));
  const neighbor = groups[index];
  if (neighbor === undefined) groups.push(next);
  else {
    const passages = [...neighbor.passages, ...next.passages].toSorted((first, second) => first.nth - second.nth);
    groups[index] = { ...neighbor, passages };
  }
}

function isAdjacent(first: PassageGroup, second: PassageGroup): boolean {
  if (first.source !== second.source || first.passages.length + second.passages.length > maxJoined) return false;
  if (first.quoted.page !== second.quoted.page || !isSameSection(first.quoted, second.quoted)) return false;
  const follows = (earlier: PassageGroup, later: PassageGroup) =>
    earlier.passages.at(-1)?.nth === (later.passages[0]?.nth ?? 0) - 1;
  return follows(first, second) || follows(second, first);
}

/** Returns all passages in order. Throws `StoreError`. */
async function gatherAll({ index, sources, hits: [best] }: GatheringInput): Promise<PassageGroup[]> {
  const readPassages = async (source: IndexedSource) => {
    const passages = await index.readRange(source.document.id, 0, source.document.passageCount);
    return passages.map((passage) => ({ source, passage }));
  };
  const entries = (await Promise.all(sources.map(readPassages))).flat();
  const bestIndex = entries.findIndex(({ source, passage }) => source.document.id === best?.document && passage.nth === best.nth);
  return entries.map(({ source, passage }, position) => {
    return { source, passages: [passage], quoted: passage, isBest: position === bestIndex };
  });
}

function isSameSection(first: Passage, second: Passage): boolean {
  return (
    first.headings.length === second.headings.length &&
    first.headings.every((heading, index) => heading === second.headings[index])
  );
}
