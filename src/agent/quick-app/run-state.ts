import { isJsonObject, type JsonObject, tryParseJson } from '#base/json/json.ts';
import type { StateOwner, StoredTexts } from '#services/files/stored-texts.ts';
import type { Citation } from '../citations.ts';
import type { EarlierResults } from '../results/full-results.ts';
import type { RunMemory } from '../run-memory.ts';
import { isMediaMessage } from '../tool-media.ts';
import { type OffloadedTexts, offload } from './offloaded-texts.ts';

/** What a reply of a quick app remembers for the next request. */
export interface RunState extends RunMemory {
  /** What the caller gave for some of the pending calls, by id of the call; each reply hands out one. */
  readonly results: Readonly<Record<string, string>>;
  /** What its tools gave to be cited; absent: nothing. */
  readonly citations?: readonly Citation[];
  /** Where whole results are kept of which the model was shown a part; absent: there are none. */
  readonly kept?: readonly StoredResults[];
  /** Its long texts; absent: they are in their places. */
  readonly beside?: OffloadedTexts | undefined;
}

/** Whole results that are kept beside a state, and read when the model asks for one. */
interface StoredResults extends EarlierResults {
  /** Of what is kept; null if it could not be. */
  readonly name: string | null;
}

/** Signs and checks a text; how is not this room's business. */
export interface StateSigner {
  sign(text: string): string;
  verify(text: string, signature: string): boolean;
}

const key = 'parley_run';
/** Of a state as JSON. */
const maxChars = 64 * 1024;
const maxOffloadedChars = 8 * 1024 * 1024;
const shortenedChars = 500;
const truncationNote = '\n[The rest was left out of what is remembered.]';

/** Turns what a reply remembers into its `custom_content.state`, signed, and back. */
export class RunStates {
  readonly #signer: StateSigner;
  readonly #texts: StoredTexts | undefined;

  /** `texts` keeps what is too long for a state; absent: it is cut. */
  constructor(signer: StateSigner, texts?: StoredTexts) {
    this.#signer = signer;
    this.#texts = texts;
  }

  /** To be given a state with all texts in their places. */
  async write({ beside: _before, fullResults, ...input }: RunState, owner: StateOwner): Promise<JsonObject> {
    const state = fullResults === undefined ? input : await this.#storeFullResults(input, fullResults, owner);
    const excess = getLength(state) - maxChars;
    const fitting = excess <= 0 ? state : ((await this.#offload(state, owner, excess)) ?? shortenState(state, excess));
    const { subject, application } = owner;
    const text = Buffer.from(JSON.stringify({ ...fitting, subject, application })).toString('base64url');
    return { [key]: `${text}.${this.#signer.sign(text)}` };
  }

  /** Undefined if it is not, character for character, what was given to this owner. */
  read(state: JsonObject, owner: StateOwner): RunState | undefined {
    const { [key]: signed, ...rest } = state;
    if (typeof signed !== 'string' || Object.keys(rest).length > 0) return undefined;
    const end = signed.indexOf('.');
    const text = signed.slice(0, Math.max(0, end));
    if (!this.#signer.verify(text, signed.slice(end + 1))) return undefined;
    const value = tryParseJson(Buffer.from(text, 'base64url').toString());
    if (!isJsonObject(value) || value.subject !== owner.subject || value.application !== owner.application) return undefined;
    const run = value as unknown as RunState;
    const { beside, kept: storedResults } = run;
    return {
      ...run,
      ...(beside !== undefined && { beside: { ...beside, read: () => this.#findTexts(owner, beside.name) } }),
      ...(storedResults !== undefined && {
        kept: storedResults.map((entry) => ({ ...entry, read: () => this.#readFullResults(owner, entry.name) })),
      }),
    };
  }

  /** The state with where its whole results are kept. */
  async #storeFullResults(state: RunState, fullResults: Readonly<Record<string, string>>, owner: StateOwner): Promise<RunState> {
    const name = this.#texts?.newName() ?? null;
    const isStored = name !== null && (await this.#texts?.store(owner, name, JSON.stringify(fullResults))) === true;
    const storedResults = { name: isStored ? name : null, ids: Object.keys(fullResults), read: () => Promise.resolve(undefined) };
    return { ...state, kept: [...(state.kept ?? []), storedResults] };
  }

  async #readFullResults(owner: StateOwner, name: string | null): Promise<Readonly<Record<string, string>> | undefined> {
    const texts = name === null ? undefined : tryParseJson((await this.#texts?.find(owner, name)) ?? '');
    return isJsonObject(texts) ? (texts as Readonly<Record<string, string>>) : undefined;
  }

  /** Keeps long texts beside the state; undefined if they are not kept. */
  async #offload(state: RunState, owner: StateOwner, excess: number): Promise<object | undefined> {
    if (this.#texts === undefined) return undefined;
    const name = this.#texts.newName();
    const { state: lightState, texts } = offload(state, name, excess);
    const serialized = JSON.stringify(texts);
    if (texts.length === 0 || serialized.length > maxOffloadedChars || !(await this.#texts.store(owner, name, serialized)))
      return undefined;
    const fitting = getLength(lightState) <= maxChars ? lightState : reduceToAnswer(lightState);
    return { ...fitting, beside: { name, chars: serialized.length } };
  }

  async #findTexts(owner: StateOwner, name: string): Promise<readonly string[] | undefined> {
    const texts = tryParseJson((await this.#texts?.find(owner, name)) ?? '');
    return Array.isArray(texts) ? texts : undefined;
  }
}

/**
 * The state without what makes it too long: what tools showed the model, then results of tools, the oldest first. Where that
 * is not enough, a run that is over is remembered by its answer alone.
 */
function shortenState(state: RunState, tooLong: number): RunState {
  const texts = state.added.filter((message) => !isMediaMessage(message));
  let excess = tooLong - (getLength(state.added) - getLength(texts));
  const added = texts.map((message) => {
    const { content } = message;
    if (excess <= 0 || message.role !== 'tool' || typeof content !== 'string') return message;
    if (content.length <= shortenedChars + truncationNote.length) return message;
    excess -= content.length - shortenedChars - truncationNote.length;
    return { ...message, content: `${content.slice(0, shortenedChars).toWellFormed()}${truncationNote}` };
  });
  return excess > 0 ? reduceToAnswer({ ...state, added }) : { ...state, added };
}

/** A run that waits needs all of the rest to go on. */
function reduceToAnswer(state: RunState): RunState {
  const isOver = state.pending.length === 0 && (state.questions ?? []).length === 0 && !state.isBroken;
  return isOver ? { ...state, added: [], citations: [] } : state;
}

function getLength(value: unknown): number {
  return JSON.stringify(value).length;
}
