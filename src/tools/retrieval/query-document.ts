import type { JsonObject } from '#base/json/json.ts';
import type { Clock } from '#base/time/clock.ts';
import type { IndexedDocument, Passage, PassageIndex } from '#domain/tools/passage-index.ts';
import { type Attachment, howToCite, type Tool, type ToolContext, ToolFault, type ToolResult } from '#domain/tools/tool.ts';
import type { TextEmbedder } from './deployment-embedder.ts';
import type { DocumentIndexer } from './indexing/document-indexer.ts';
import { awaitReadings, type ReadFile } from './reading-progress.ts';
import type { PassageSearch, ScoredHit } from './searching/passage-search.ts';
import type { ShelvedFile } from './shelf.ts';

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

/** How long a question waits until its documents can be searched by what they mean. */
const patienceMs = 120_000;
const lookAgainMs = 500;
const tellEveryMs = 2000;

interface AwaitVectorsDeps {
  readonly index: Pick<PassageIndex, 'countVectors'>;
  readonly indexer: Pick<DocumentIndexer, 'isMaking'>;
  readonly embedder: TextEmbedder;
  readonly clock: Clock;
  readonly context: Pick<ToolContext, 'signal' | 'report'>;
}

/**
 * Waits until all passages have their vectors, telling how far that is; gives whether there are more of them now. Does not wait for
 * a model that fails. Throws StoreFault, the signal's reason.
 */
async function awaitVectors(documents: readonly IndexedDocument[], deps: AwaitVectorsDeps): Promise<boolean> {
  const { indexer, embedder, clock, context } = deps;
  const total = documents.reduce((sum, { passages }) => sum + passages, 0);
  const began = clock.nowMs();
  const first = await countDone(documents, deps);
  let done = first;
  let toldMs = Number.NEGATIVE_INFINITY;
  while (done < total && indexer.isMaking(embedder) && clock.nowMs() - began < patienceMs) {
    if (clock.nowMs() - toldMs >= tellEveryMs) {
      toldMs = clock.nowMs();
      await context.report({ content: `Working out what the passages mean: ${done} of ${total}.\n\n` });
    }
    await clock.sleep(lookAgainMs, context.signal);
    done = await countDone(documents, deps);
  }
  return done > first;
}

async function countDone(documents: readonly IndexedDocument[], { index, embedder }: AwaitVectorsDeps): Promise<number> {
  const counts = await Promise.all(documents.map(({ id }) => index.countVectors({ document: id, model: embedder.model })));
  return counts.reduce((sum, count) => sum + count, 0);
}

const longestExcerpt = 2000;
const nothing = 'Nothing in the documents fits this question. Try other words, or say that the documents do not tell.';
/** Of the allowed bytes, for notes and what stands between passages. */
const reservedBytes = 1000;
/** A number with its brackets, and the line breaks behind a passage. */
const markBytes = 10;

interface Answering {
  readonly passages: readonly GivenPassage[];
  readonly notes: readonly string[];
  /** Bytes of the text. */
  readonly maxBytes: number;
  readonly cite: ToolContext['cite'];
}

/** What the model reads of passages, each under the number that it may cite it by. */
function toAnswer({ passages, notes, maxBytes, cite }: Answering): ToolResult {
  const parts = withNumbers(passages, { maxBytes: maxBytes - reservedBytes, cite });
  const told = parts.length === 0 ? [nothing] : [...parts, howToCite];
  return { text: [...told, ...notes.map((note) => `Note: ${note}`)].join('\n\n'), attachments: [], failed: false };
}

/** As many as there is room for, in their order; where one is not the first of its section, its head is not repeated. */
function withNumbers(passages: readonly GivenPassage[], { maxBytes, cite }: Pick<Answering, 'maxBytes' | 'cite'>): string[] {
  const parts: string[] = [];
  let left = maxBytes;
  let before = '';
  for (const { file, passages: given, quoted, isBest } of passages) {
    const head = toHead(file, given[0] ?? quoted);
    const text = given.map((passage) => passage.text).join('\n');
    const said = head === before ? text : `${head}\n${text}`;
    const bytes = Buffer.byteLength(said) + markBytes;
    if (bytes > left) continue;
    left -= bytes;
    before = head;
    parts.push(`[${cite({ attachment: toCitation(file, quoted), text, isBest })}] ${said}`);
  }
  return parts;
}

function toHead(file: ReadFile, first: Passage): string {
  const headings = first.headings.length === 0 ? '' : ` — ${first.headings.join(' › ')}`;
  return `${toPlace(file, first, 'page')}${headings}`;
}

/** `report.pdf, p. 3`. */
function toPlace({ name, document }: ReadFile, { page }: Passage, pageWord: string): string {
  if (page === null) return name;
  const unit = document.format === 'pptx' ? 'slide' : document.format === 'xlsx' ? 'sheet' : pageWord;
  return `${name}, ${unit} ${page}`;
}

function toCitation(file: ReadFile, passage: Passage): Attachment {
  const { text, page } = passage;
  return {
    type: 'text/markdown',
    title: toPlace(file, passage, 'p.'),
    data: text.length <= longestExcerpt ? text : `${text.slice(0, longestExcerpt).toWellFormed()}…`,
    reference_type: file.file.contentType,
    reference_url: page === null ? file.reference : `${file.reference}#page=${page}`,
  };
}

/** Passages under one number: what is quoted to the user is one of them. */
const mostJoined = 6;

/** Passages that follow each other, for the model to read under one number. */
interface GivenPassage {
  readonly file: ReadFile;
  /** At least one. */
  readonly passages: readonly Passage[];
  /** The one among them that is quoted to the user. */
  readonly quoted: Passage;
  /** Whether it was found first. */
  readonly isBest: boolean;
}

interface Gathering {
  readonly index: PassageIndex;
  readonly read: readonly ReadFile[];
  /** Best first. */
  readonly hits: readonly ScoredHit[];
}

interface GatheringBounds {
  /** How many that were found are given at most, their neighbours beside. */
  readonly passages: number;
  /** What fits less is left out: from 0 to 1. */
  readonly minScore: number;
}

/** The best passages with their neighbours of the same section, none twice; those that follow each other are joined. Throws StoreFault. */
async function gatherPassages({ index, read, hits }: Gathering, bounds: GatheringBounds): Promise<GivenPassage[]> {
  const given: GivenPassage[] = [];
  const shown = new Set<string>();
  let left = bounds.passages;
  for (const { document, nth, score } of hits) {
    if (left === 0) break;
    const file = fileOf(read, document);
    if (file === undefined || score < bounds.minScore || shown.has(`${document} ${nth}`)) continue;
    const around = await index.read(document, nth - 1, nth + 2);
    const quoted = around.find((each) => each.nth === nth);
    if (quoted === undefined) continue;
    const passages = around.filter((each) => isOfSection(each, quoted) && !shown.has(`${document} ${each.nth}`));
    for (const each of passages) shown.add(`${document} ${each.nth}`);
    put(given, { file, passages, quoted, isBest: given.length === 0 });
    left -= 1;
  }
  return given;
}

/** What follows something that is given already, or comes before it, is given with that. */
function put(given: GivenPassage[], next: GivenPassage): void {
  const at = given.findIndex((each) => isBeside(each, next));
  const neighbour = given[at];
  if (neighbour === undefined) given.push(next);
  else {
    const passages = [...neighbour.passages, ...next.passages].toSorted((one, other) => one.nth - other.nth);
    given[at] = { ...neighbour, passages };
  }
}

function isBeside(one: GivenPassage, other: GivenPassage): boolean {
  if (one.file !== other.file || one.passages.length + other.passages.length > mostJoined) return false;
  if (one.quoted.page !== other.quoted.page || !isOfSection(one.quoted, other.quoted)) return false;
  const follows = (first: GivenPassage, second: GivenPassage) =>
    first.passages.at(-1)?.nth === (second.passages[0]?.nth ?? 0) - 1;
  return follows(one, other) || follows(other, one);
}

/** All there is, in order. Throws StoreFault. */
async function gatherWhole({ index, read, hits: [best] }: Gathering): Promise<GivenPassage[]> {
  const documents = await Promise.all(
    read.map(async (file) => ({ file, passages: await index.read(file.document.id, 0, file.document.passages) })),
  );
  const given = documents.flatMap(({ file, passages }) => passages.map((passage) => ({ file, passage })));
  const found = given.findIndex(({ file, passage }) => file.document.id === best?.document && passage.nth === best.nth);
  return given.map(({ file, passage }, at) => ({ file, passages: [passage], quoted: passage, isBest: at === found }));
}

/** Two files may have the same content; the first is cited. */
function fileOf(read: readonly ReadFile[], document: string): ReadFile | undefined {
  return read.find((file) => file.document.id === document);
}

function isOfSection(one: Passage, other: Passage): boolean {
  return one.headings.length === other.headings.length && one.headings.every((heading, at) => heading === other.headings[at]);
}
