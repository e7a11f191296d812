import { isJsonObject, type JsonObject, tryParseJson } from '#base/json/json.ts';
import type { KeptTexts, StateOwner } from '#services/files/kept-texts.ts';
import type { Citation } from '../citations.ts';
import type { EarlierResults } from '../results/kept-results.ts';
import type { RunMemory } from '../run-memory.ts';
import { isMediaMessage } from '../shown-media.ts';
import { type OffloadedTexts, offload } from './offloaded-texts.ts';

/** What a reply of a quick app remembers for the next request. */
export interface RunState extends RunMemory {
  /** What the caller gave for some of the pending calls, by id of the call; each reply hands out one. */
  readonly results: Readonly<Record<string, string>>;
  /** What its tools gave to be cited; absent: nothing. */
  readonly citations?: readonly Citation[];
  /** Where whole results are kept of which the model was shown a part; absent: there are none. */
  readonly kept?: readonly KeptAside[];
  /** Its long texts; absent: they are in their places. */
  readonly beside?: OffloadedTexts | undefined;
}

/** Whole results that are kept beside a state, and read when the model asks for one. */
interface KeptAside extends EarlierResults {
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
const mostChars = 64 * 1024;
const mostCharsBeside = 8 * 1024 * 1024;
const shortenedChars = 500;
const cutNote = '\n[The rest was left out of what is remembered.]';

/** Turns what a reply remembers into its `custom_content.state`, signed, and back. */
export class RunStates {
  readonly #signer: StateSigner;
  readonly #texts: KeptTexts | undefined;

  /** `texts` keeps what is too long for a state; absent: it is cut. */
  constructor(signer: StateSigner, texts?: KeptTexts) {
    this.#signer = signer;
    this.#texts = texts;
  }

  /** To be given a state with all texts in their places. */
  async write({ beside: _before, wholeResults, ...given }: RunState, owner: StateOwner): Promise<JsonObject> {
    const state = wholeResults === undefined ? given : await this.#keepWhole(given, wholeResults, owner);
    const excess = lengthOf(state) - mostChars;
    const fitting = excess <= 0 ? state : ((await this.#offload(state, owner, excess)) ?? shortened(state, excess));
    const { subject, application } = owner;
    const text = Buffer.from(JSON.stringify({ ...fitting, subject, application })).toString('base64url');
    return { [key]: `${text}.${this.#signer.sign(text)}` };
  }

  /** Undefined if it is not, character for character, what was given to this owner. */
  read(state: JsonObject, owner: StateOwner): RunState | undefined {
    const { [key]: signed, ...others } = state;
    if (typeof signed !== 'string' || Object.keys(others).length > 0) return undefined;
    const end = signed.indexOf('.');
    const text = signed.slice(0, Math.max(0, end));
    if (!this.#signer.verify(text, signed.slice(end + 1))) return undefined;
    const value = tryParseJson(Buffer.from(text, 'base64url').toString());
    if (!isJsonObject(value) || value.subject !== owner.subject || value.application !== owner.application) return undefined;
    const run = value as unknown as RunState;
    const { beside, kept } = run;
    return {
      ...run,
      ...(beside !== undefined && { beside: { ...beside, read: () => this.#find(owner, beside.name) } }),
      ...(kept !== undefined && { kept: kept.map((each) => ({ ...each, read: () => this.#readWhole(owner, each.name) })) }),
    };
  }

  /** The state with where its whole results are kept. */
  async #keepWhole(state: RunState, whole: Readonly<Record<string, string>>, owner: StateOwner): Promise<RunState> {
    const name = this.#texts?.newName() ?? null;
    const isKept = name !== null && (await this.#texts?.keep(owner, name, JSON.stringify(whole))) === true;
    const aside = { name: isKept ? name : null, ids: Object.keys(whole), read: () => Promise.resolve(undefined) };
    return { ...state, kept: [...(state.kept ?? []), aside] };
  }

  async #readWhole(owner: StateOwner, name: string | null): Promise<Readonly<Record<string, string>> | undefined> {
    const texts = name === null ? undefined : tryParseJson((await this.#texts?.find(owner, name)) ?? '');
    return isJsonObject(texts) ? (texts as Readonly<Record<string, string>>) : undefined;
  }

  /** Keeps long texts beside the state; undefined if they are not kept. */
  async #offload(state: RunState, owner: StateOwner, excess: number): Promise<object | undefined> {
    if (this.#texts === undefined) return undefined;
    const name = this.#texts.newName();
    const { state: light, texts } = offload(state, name, excess);
    const kept = JSON.stringify(texts);
    if (texts.length === 0 || kept.length > mostCharsBeside || !(await this.#texts.keep(owner, name, kept))) return undefined;
    const fitting = lengthOf(light) <= mostChars ? light : answerAlone(light);
    return { ...fitting, beside: { name, chars: kept.length } };
  }

  async #find(owner: StateOwner, name: string): Promise<readonly string[] | undefined> {
    const texts = tryParseJson((await this.#texts?.find(owner, name)) ?? '');
    return Array.isArray(texts) ? texts : undefined;
  }
}

/**
 * The state without what makes it too long: what tools showed the model, then results of tools, the oldest first. Where that
 * is not enough, a run that is over is remembered by its answer alone.
 */
function shortened(state: RunState, tooLong: number): RunState {
  const texts = state.added.filter((message) => !isMediaMessage(message));
  let excess = tooLong - (lengthOf(state.added) - lengthOf(texts));
  const added = texts.map((message) => {
    const { content } = message;
    if (excess <= 0 || message.role !== 'tool' || typeof content !== 'string') return message;
    if (content.length <= shortenedChars + cutNote.length) return message;
    excess -= content.length - shortenedChars - cutNote.length;
    return { ...message, content: `${content.slice(0, shortenedChars).toWellFormed()}${cutNote}` };
  });
  return excess > 0 ? answerAlone({ ...state, added }) : { ...state, added };
}

/** A run that waits needs all of the rest to go on. */
function answerAlone(state: RunState): RunState {
  const isOver = state.pending.length === 0 && (state.questions ?? []).length === 0 && !state.isBroken;
  return isOver ? { ...state, added: [], citations: [] } : state;
}

function lengthOf(value: unknown): number {
  return JSON.stringify(value).length;
}
