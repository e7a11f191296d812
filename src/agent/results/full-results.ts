import { hash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { escapePattern } from '#base/text/find-text.ts';
import { isResult, type Message } from '#contract/chat/message.ts';
import { type Attachment, type Tool, ToolError, type ToolResult } from '#domain/tools/tool.ts';
import { truncateText } from './truncate-text.ts';

/** Complete results that an earlier reply stored. */
export interface EarlierResults {
  readonly ids: readonly string[];
  /** Returns the results by ID, or undefined if they were deleted or not stored. Rejects with `StoreError`. */
  readonly load: () => Promise<Readonly<Record<string, string>> | undefined>;
}

/** Maximum number of stored characters: of all results of a reply, and per result. */
const maxChars = { total: 4_000_000, perResult: 2_000_000 };
const idChars = 10;
const idInText = /"(r_[0-9a-f]{10})"/g;

/** Complete tool results that the model saw in part, or no longer sees. The model reads them by ID. Create one per run. */
export class FullResults {
  /** Name under which the model calls the tool that reads results. */
  readonly toolName: string;
  readonly #earlierResults: readonly EarlierResults[];
  readonly #ownResults = new Map<string, string>();
  #chars = 0;

  constructor(toolName: string, earlierResults: readonly EarlierResults[] = []) {
    this.toolName = toolName;
    this.#earlierResults = earlierResults;
  }

  /** Whether any result can be read. */
  get hasAny(): boolean {
    return this.#ownResults.size > 0 || this.#earlierResults.length > 0;
  }

  /** Results that this run adds, by ID. */
  get ownResults(): Readonly<Record<string, string>> {
    return Object.fromEntries(this.#ownResults);
  }

  /** Stores a result, and returns its ID. Returns undefined if the maximum is exceeded. */
  store(text: string): string | undefined {
    const id = computeId(text);
    if (this.#ownResults.has(id)) return id;
    const chars = Math.min(text.length, maxChars.perResult);
    if (this.#chars + chars > maxChars.total) return undefined;
    this.#chars += chars;
    this.#ownResults.set(id, text.slice(0, maxChars.perResult));
    return id;
  }

  /** Returns one line that replaces a cleared result and explains how to read it. */
  formatPlaceholder(content: string, tool: string): string {
    // The note of a truncated result contains the ID of the complete one.
    const fullId = [...content.slice(-maxNoteChars).matchAll(idInText)].at(-1)?.[1];
    const id = fullId !== undefined && this.#isKnown(fullId) ? fullId : computeId(content);
    return `[The result of ${tool}, ${Buffer.byteLength(content)} bytes, was cleared to make room. ${this.toolName} with id "${id}" reads it again.]`;
  }

  /**
   * Returns a result that is stored or among the messages. Returns undefined for an unknown or deleted result. Rejects with
   * `StoreError`.
   */
  async find(id: string, messages: readonly Message[]): Promise<string | undefined> {
    const ownText = this.#ownResults.get(id);
    if (ownText !== undefined) return ownText;
    const match = messages.find(
      (message) => isResult(message) && typeof message.content === 'string' && computeId(message.content) === id,
    );
    if (match !== undefined) return String(match.content);
    for (const { ids, load } of this.#earlierResults) {
      const text = ids.includes(id) ? (await load())?.[id] : undefined;
      if (text !== undefined) return text;
    }
    return undefined;
  }

  #isKnown(id: string): boolean {
    return this.#ownResults.has(id) || this.#earlierResults.some(({ ids }) => ids.includes(id));
  }
}

/** Maximum number of characters after truncated content: the truncation note, and the note of the tool. */
const maxNoteChars = 5_000;

/** Returns the same ID for the same text throughout a conversation. */
function computeId(text: string): string {
  return `r_${hash('sha256', text, 'hex').slice(0, idChars)}`;
}

/** Matches text that starts like JSON, but not numbered passages such as `[1] handbook.md`. */
export const looksLikeJson = /^\s*(?:\{|\[(?!\d+\] ))/;

/** A tool result in the form that the model and the stage show. */
interface VisibleResult {
  /**
   * Text of at most the allowed bytes, with a note if it is truncated. If the limit is too small for the note, only the note.
   */
  readonly text: string;
  /** The complete result, if the text is truncated. */
  readonly fullAttachments: readonly Attachment[];
}

/** Truncates a result that is too long for the model. The note explains how to read the rest. */
export function toVisibleResult(result: ToolResult, maxBytes: number, results: FullResults): VisibleResult {
  const { note } = result;
  if (note === undefined) return toVisibleText(result, maxBytes, results);
  const { text, fullAttachments } = toVisibleText(result, Math.max(0, maxBytes - Buffer.byteLength(note) - 2), results);
  return { text: `${text}\n\n${note}`, fullAttachments };
}

function toVisibleText(result: ToolResult, maxBytes: number, results: FullResults): VisibleResult {
  const bytes = Buffer.byteLength(result.text);
  if (bytes <= maxBytes) return { text: result.text || '(The tool gave no text.)', fullAttachments: [] };
  const id = results.store(result.text);
  const toNote = (visibleBytes: number, visibleChars: number): string => {
    const further =
      id === undefined ? '' : ` ${results.toolName} with id "${id}" continues from offset ${visibleChars}, or searches it.`;
    return `\n\n[Truncated: these are the first ${visibleBytes} of ${bytes} bytes of the result.${further}]`;
  };
  const truncated = truncateText(result.text, Math.max(0, maxBytes - toNote(maxBytes, maxBytes).length));
  return {
    text: truncated + toNote(Buffer.byteLength(truncated), truncated.length),
    fullAttachments: [
      { title: 'Full result', type: looksLikeJson.test(result.text) ? 'application/json' : 'text/plain', data: result.text },
    ],
  };
}

/** Name that the tool has unless another tool has the same name. */
export const readResultName = 'read_result';

const parameters = {
  type: 'object',
  properties: {
    id: { type: 'string', description: 'The id in the truncated result, such as r_0123456789.' },
    offset: { type: 'integer', minimum: 0, description: 'Index of the first character to read. The default is 0.' },
    search: {
      type: 'string',
      minLength: 1,
      description: 'Words to search for instead of reading on. Returns the matches, each with its offset.',
    },
  },
  required: ['id'],
};

const marginChars = 160;
const maxExcerpts = 20;
const maxNoteBytes = 200;
const minPageBytes = 200;

/** Creates the tool that lets a model read or search results that it saw only in part. */
export function createReadResultTool(getResults: () => FullResults, getMessages: () => readonly Message[]): Tool {
  let lastTurn: Promise<unknown> = Promise.resolve();
  return {
    name: readResultName,
    description: 'Reads on in a result of a tool that was cut or cleared, or searches it.',
    parameters,
    async run({ id, offset = 0, search }, { maxResultBytes }): Promise<ToolResult> {
      // Each call has its own turn of the event loop, because all calls of a model run concurrently.
      lastTurn = lastTurn.then(() => setImmediate());
      await lastTurn;
      const text = await getResults().find(String(id), getMessages());
      if (text === undefined) throw new ToolError(`no result has the id ${JSON.stringify(id)}. Call its tool again`);
      const maxPageBytes = Math.max(minPageBytes, maxResultBytes - maxNoteBytes);
      const from = Number(offset);
      const content =
        typeof search === 'string' && search.trim() !== ''
          ? formatMatches(text, search, { from, maxBytes: maxPageBytes })
          : formatPage(text, from, maxPageBytes);
      return { text: content, attachments: [], failed: false };
    },
  };
}

function formatPage(text: string, from: number, maxBytes: number): string {
  const remainingText = text.slice(from);
  if (remainingText === '') return `[The result has ${text.length} characters, so it has no text at offset ${from}.]`;
  // The model may choose an offset within a surrogate pair.
  const page = truncateText(remainingText, maxBytes).toWellFormed();
  const end = from + page.length;
  const hint = end < text.length ? `continue with offset ${end}` : 'this is the end';
  return `${page}\n\n[Characters ${from} to ${end} of ${text.length}, ${hint}.]`;
}

/** Maximum size of a search. Longer searches are truncated, because all words are tried at each position of the text. */
const [maxSearchChars, maxSearchWords] = [200, 8];

/** Returns excerpts around the matches. `search` must contain a word, because an empty pattern matches endlessly. */
function formatMatches(
  text: string,
  search: string,
  { from, maxBytes }: { readonly from: number; readonly maxBytes: number },
): string {
  const words = search.trim().slice(0, maxSearchChars).split(/\s+/, maxSearchWords);
  // Pattern bound: 200 characters of escaped text, in 8 words.
  const pattern = new RegExp(words.map(escapePattern).join('\\s+'), 'giu');
  const excerpts: string[] = [];
  let remainingBytes = maxBytes;
  let matchCount = 0;
  let shownEnd = -1;
  pattern.lastIndex = from;
  for (let match = pattern.exec(text); match !== null; match = pattern.exec(text)) {
    matchCount += 1;
    if (match.index < shownEnd || excerpts.length === maxExcerpts) continue;
    const start = Math.max(from, match.index - marginChars);
    const fullExcerpt = `Offset ${start}: …${text.slice(start, match.index + match[0].length + marginChars).toWellFormed()}…`;
    const excerpt = excerpts.length === 0 ? truncateText(fullExcerpt, maxBytes) : fullExcerpt;
    remainingBytes -= Buffer.byteLength(excerpt);
    if (remainingBytes < 0) continue;
    shownEnd = match.index + match[0].length + marginChars;
    excerpts.push(excerpt);
  }
  if (matchCount === 0) return `[Nothing in the ${text.length} characters of the result matches ${JSON.stringify(search)}.]`;
  return `${excerpts.join('\n\n')}\n\n[Found ${matchCount} times in ${text.length} characters, shown in ${excerpts.length} places.]`;
}
