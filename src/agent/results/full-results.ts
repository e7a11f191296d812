import { hash } from 'node:crypto';
import { isResult, type Message } from '#contract/chat/message.ts';

/** Whole results that earlier replies kept. */
export interface EarlierResults {
  readonly ids: readonly string[];
  /** By id; undefined if they are gone, or could not be kept. Rejects with StoreFault. */
  readonly read: () => Promise<Readonly<Record<string, string>> | undefined>;
}

/** Characters that one reply keeps, and of one result. */
const maxChars = { all: 4_000_000, perResult: 2_000_000 };
const idChars = 10;
const idInText = /"(r_[0-9a-f]{10})"/g;

/** Whole results of tools that the model was shown in part, or not any more: the model reads in them by id. One for a run. */
export class FullResults {
  /** What the model calls the tool that reads them. */
  readonly toolName: string;
  readonly #earlier: readonly EarlierResults[];
  readonly #ownResults = new Map<string, string>();
  #chars = 0;

  constructor(toolName: string, earlier: readonly EarlierResults[] = []) {
    this.toolName = toolName;
    this.#earlier = earlier;
  }

  /** Whether the model was told of a result that it can read. */
  get hasAny(): boolean {
    return this.#ownResults.size > 0 || this.#earlier.length > 0;
  }

  /** What this run adds, by id. */
  get ownResults(): Readonly<Record<string, string>> {
    return Object.fromEntries(this.#ownResults);
  }

  /** The id of a result that is kept from now on; undefined if there is no room for it. */
  store(text: string): string | undefined {
    const id = computeId(text);
    if (this.#ownResults.has(id)) return id;
    const chars = Math.min(text.length, maxChars.perResult);
    if (this.#chars + chars > maxChars.all) return undefined;
    this.#chars += chars;
    this.#ownResults.set(id, text.slice(0, maxChars.perResult));
    return id;
  }

  /** Says in a line that a result was here, and how to read it. */
  formatPlaceholder(content: string, tool: string): string {
    // What was cut ends in the id of the whole.
    const fullId = [...content.slice(-maxNoteChars).matchAll(idInText)].at(-1)?.[1];
    const id = fullId !== undefined && this.#isKnown(fullId) ? fullId : computeId(content);
    return `[The result of ${tool}, ${Buffer.byteLength(content)} bytes, was cleared to make room. ${this.toolName} with id "${id}" reads it again.]`;
  }

  /** The result of this id, kept or among the messages; undefined if there is none, or none any more. Rejects with StoreFault. */
  async find(id: string, messages: readonly Message[]): Promise<string | undefined> {
    const ownText = this.#ownResults.get(id);
    if (ownText !== undefined) return ownText;
    const match = messages.find(
      (message) => isResult(message) && typeof message.content === 'string' && computeId(message.content) === id,
    );
    if (match !== undefined) return String(match.content);
    for (const { ids, read } of this.#earlier) {
      const text = ids.includes(id) ? (await read())?.[id] : undefined;
      if (text !== undefined) return text;
    }
    return undefined;
  }

  #isKnown(id: string): boolean {
    return this.#ownResults.has(id) || this.#earlier.some(({ ids }) => ids.includes(id));
  }
}

/** Characters behind what was cut: its own note, and that of its tool. */
const maxNoteChars = 5_000;

/** The same for the same text, throughout a conversation. */
function computeId(text: string): string {
  return `r_${hash('sha256', text, 'hex').slice(0, idChars)}`;
}
