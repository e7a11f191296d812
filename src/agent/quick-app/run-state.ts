import { isJsonObject, type JsonObject, tryParseJson } from '#base/json/json.ts';
import type { StateOwner, StoredTexts } from '#services/files/stored-texts.ts';
import type { Citation } from '../citations.ts';
import type { RunMemory } from '../loop-options.ts';
import type { EarlierResults } from '../results/full-results.ts';
import { isMediaMessage } from '../tool-media.ts';

/** The state that a reply of a quick app stores for the next request. */
export interface RunState extends RunMemory {
  /**
   * Results from the client for pending calls, by call ID. With legacy function calls, each reply returns one call to the client,
   * so the results arrive in several requests.
   */
  readonly results: Readonly<Record<string, string>>;
  /** Citations of the run. Absent if the run has no citations. */
  readonly citations?: readonly Citation[];
  /** References to stored results that the model saw only in part. Absent if all results are complete. */
  readonly kept?: readonly StoredResults[];
  /** The offloaded texts. If absent, the state contains all texts. */
  readonly beside?: OffloadedTexts | undefined;
}

/** Results that are stored separately from a state, and read if the model requests one. */
interface StoredResults extends EarlierResults {
  /** Name of the stored texts, or null if they could not be stored. */
  readonly name: string | null;
}

/** Long texts that are stored separately from a state. Markers in the state refer to them. */
export interface OffloadedTexts {
  /** Prefix of the markers. */
  readonly name: string;
  /** Total number of characters. */
  readonly chars: number;
  /** Returns the texts, ordered by marker number, or undefined if they were deleted. Rejects with `StoreError`. */
  readonly readTexts: () => Promise<readonly string[] | undefined>;
}

export interface StateSigner {
  sign(text: string): string;
  verify(text: string, signature: string): boolean;
}

const stateKey = 'parley_run';
/** Maximum number of characters of a state as JSON. */
const maxChars = 64 * 1024;
const maxOffloadedChars = 8 * 1024 * 1024;
const shortenedChars = 500;
const truncationNote = '\n[The rest is omitted from the stored conversation.]';

/** Converts run states to signed `custom_content.state` objects, and back. */
export class RunStates {
  readonly #signer: StateSigner;
  readonly #texts: StoredTexts | undefined;

  /** `texts` stores the parts that are too long for a state. If absent, the state is shortened instead. */
  constructor(signer: StateSigner, texts?: StoredTexts) {
    this.#signer = signer;
    this.#texts = texts;
  }

  /** Signs a state for its owner, and stores parts that are too long. The input must not contain markers of offloaded texts. */
  async write({ beside: _offloadedTexts, fullResults, ...input }: RunState, owner: StateOwner): Promise<JsonObject> {
    const state = fullResults === undefined ? input : await this.#storeFullResults(input, fullResults, owner);
    const excess = getLength(state) - maxChars;
    const fitting = excess <= 0 ? state : ((await this.#offload(state, owner, excess)) ?? shortenState(state, excess));
    const { subject, application } = owner;
    const text = Buffer.from(JSON.stringify({ ...fitting, subject, application })).toString('base64url');
    return { [stateKey]: `${text}.${this.#signer.sign(text)}` };
  }

  /** Verifies and reads a state. Returns undefined if it is not exactly the state that this owner received. */
  readState(state: JsonObject, owner: StateOwner): RunState | undefined {
    const { [stateKey]: signed, ...otherFields } = state;
    if (typeof signed !== 'string' || Object.keys(otherFields).length > 0) return undefined;
    const end = signed.indexOf('.');
    const text = signed.slice(0, Math.max(0, end));
    if (!this.#signer.verify(text, signed.slice(end + 1))) return undefined;
    const value = tryParseJson(Buffer.from(text, 'base64url').toString());
    if (!isJsonObject(value) || value.subject !== owner.subject || value.application !== owner.application) return undefined;
    const run = value as unknown as RunState;
    const { beside, kept: storedResults } = run;
    return {
      ...run,
      ...(beside !== undefined && { beside: { ...beside, readTexts: () => this.#findTexts(owner, beside.name) } }),
      ...(storedResults !== undefined && {
        kept: storedResults.map((entry) => ({ ...entry, load: () => this.#readFullResults(owner, entry.name) })),
      }),
    };
  }

  /** Stores the full results, and returns the state with a reference to them. */
  async #storeFullResults(state: RunState, fullResults: Readonly<Record<string, string>>, owner: StateOwner): Promise<RunState> {
    const name = this.#texts?.newName() ?? null;
    const isStored = name !== null && (await this.#texts?.store(owner, name, JSON.stringify(fullResults))) === true;
    const storedResults = { name: isStored ? name : null, ids: Object.keys(fullResults), load: () => Promise.resolve(undefined) };
    return { ...state, kept: [...(state.kept ?? []), storedResults] };
  }

  async #readFullResults(owner: StateOwner, name: string | null): Promise<Readonly<Record<string, string>> | undefined> {
    const texts = name === null ? undefined : tryParseJson((await this.#texts?.find(owner, name)) ?? '');
    return isJsonObject(texts) ? (texts as Readonly<Record<string, string>>) : undefined;
  }

  /** Stores long texts separately from the state. Returns undefined if they are not stored. */
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
 * Shortens a state: first drops the media of tools, then truncates tool results, oldest first. If that is not enough, only the
 * answer of a completed run is remembered.
 */
function shortenState(state: RunState, excessChars: number): RunState {
  const messages = state.added.filter((message) => !isMediaMessage(message));
  let excess = excessChars - (getLength(state.added) - getLength(messages));
  const added = messages.map((message) => {
    const { content } = message;
    if (excess <= 0 || message.role !== 'tool' || typeof content !== 'string') return message;
    if (content.length <= shortenedChars + truncationNote.length) return message;
    excess -= content.length - shortenedChars - truncationNote.length;
    return { ...message, content: `${content.slice(0, shortenedChars).toWellFormed()}${truncationNote}` };
  });
  return excess > 0 ? reduceToAnswer({ ...state, added }) : { ...state, added };
}

/** Reduces a completed run to its answer. A run that waits or failed needs its complete state to continue. */
function reduceToAnswer(state: RunState): RunState {
  const hasEnded = state.pending.length === 0 && (state.questions ?? []).length === 0 && !state.isBroken;
  return hasEnded ? { ...state, added: [], citations: [] } : state;
}

function getLength(value: unknown): number {
  return JSON.stringify(value).length;
}

/** Minimum length of an offloaded text. Shorter texts stay in the state, so that they survive the deletion of offloaded texts. */
const minOffloadedChars = 150;

/**
 * Replaces the longest texts of a state with markers until it is `excessChars` shorter. Keeps the arguments of pending calls,
 * because the run needs them to continue.
 */
function offload(
  state: RunState,
  name: string,
  excessChars: number,
): { readonly state: RunState; readonly texts: readonly string[] } {
  const { added, results, citations, pending, questions = [] } = state;
  const fields = { added, results, ...(citations !== undefined && { citations }) };
  const waitingCalls = [...pending, ...questions.map(({ call }) => call)];
  const requiredArguments = new Set(waitingCalls.map((call) => call.function.arguments));
  const numbers = new Map<string, number>();
  let remainingChars = excessChars;
  for (const text of listTextsByLength(fields)) {
    if (remainingChars <= 0 || text.length < minOffloadedChars) break;
    if (requiredArguments.has(text)) continue;
    remainingChars -= text.length - formatMarker(name, numbers.size).length;
    numbers.set(text, numbers.size);
  }
  const marked = mapTexts(fields, (text) => {
    const number = numbers.get(text);
    return number === undefined ? text : formatMarker(name, number);
  });
  return { state: { ...state, ...marked }, texts: [...numbers.keys()] };
}

/** Parses a text in the form of a marker. Other texts can have this form too, so check that the name exists. */
export function parseMarker(text: string): { readonly name: string; readonly number: number } | undefined {
  const end = text.length <= maxMarkerChars ? text.indexOf(':') : -1;
  const number = Number(text.slice(end + 1));
  return end <= 0 || !Number.isInteger(number) ? undefined : { name: text.slice(0, end), number };
}

const maxMarkerChars = 80;

function formatMarker(name: string, number: number): string {
  return `${name}:${number}`;
}

function listTextsByLength(value: unknown): string[] {
  const texts = new Set<string>();
  mapTexts(value, (text) => {
    texts.add(text);
    return text;
  });
  return [...texts].sort((first, second) => second.length - first.length);
}

/** Returns a copy of the value with transformed texts. */
export function mapTexts<Value>(value: Value, transform: (text: string) => string): Value {
  if (typeof value === 'string') return transform(value) as Value;
  if (Array.isArray(value)) return value.map((item) => mapTexts(item, transform)) as Value;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, mapTexts(item, transform)])) as Value;
}
