import { isJsonObject, type JsonObject, tryParseJson } from '#base/json.ts';
import type { RunMemory } from '../loop.ts';

/** What a reply of a quick app remembers for the next request. */
export interface RunState extends RunMemory {
  /** What the caller gave for some of the pending calls, by id of the call; it is handed one a reply. */
  readonly results: Readonly<Record<string, string>>;
}

/** Whom a state belongs to: it is good for one user and one application (contract, points read two ways). */
export interface StateOwner {
  readonly subject: string;
  readonly application: string;
}

/** Signs and checks a text; how is not this room's business. */
export interface StateSigner {
  sign(text: string): string;
  verify(text: string, signature: string): boolean;
}

const key = 'parley_run';
const mostChars = 256 * 1024;
const shortenedChars = 500;
const cutNote = '\n[The rest was left out of what is remembered.]';

/** Turns what a reply remembers into its `custom_content.state`, signed, and back. */
export class RunStates {
  readonly #signer: StateSigner;

  constructor(signer: StateSigner) {
    this.#signer = signer;
  }

  write(state: RunState, { subject, application }: StateOwner): JsonObject {
    const text = Buffer.from(JSON.stringify({ ...shortened(state), subject, application })).toString('base64url');
    return { [key]: `${text}.${this.#signer.sign(text)}` };
  }

  /** Undefined where it is not, character for character, what was given to this owner. */
  read(state: JsonObject, owner: StateOwner): RunState | undefined {
    const { [key]: signed, ...others } = state;
    if (typeof signed !== 'string' || Object.keys(others).length > 0) return undefined;
    const end = signed.indexOf('.');
    const text = signed.slice(0, Math.max(0, end));
    if (!this.#signer.verify(text, signed.slice(end + 1))) return undefined;
    const value = tryParseJson(Buffer.from(text, 'base64url').toString());
    if (!isJsonObject(value) || value.subject !== owner.subject || value.application !== owner.application) return undefined;
    return value as unknown as RunState;
  }
}

/**
 * A state goes to and fro with each request: results of tools that would make it too large are cut, the oldest first. Where
 * that is not enough, a run that is over is remembered by its answer alone; one that waits needs all of the rest to go on.
 */
function shortened(state: RunState): RunState {
  let excess = JSON.stringify(state).length - mostChars;
  if (excess <= 0) return state;
  const added = state.added.map((message) => {
    const { content } = message;
    if (excess <= 0 || message.role !== 'tool' || typeof content !== 'string') return message;
    if (content.length <= shortenedChars + cutNote.length) return message;
    excess -= content.length - shortenedChars - cutNote.length;
    return { ...message, content: `${content.slice(0, shortenedChars).toWellFormed()}${cutNote}` };
  });
  const isOver = state.pending.length === 0 && (state.questions ?? []).length === 0;
  return { ...state, added: excess > 0 && isOver ? [] : added };
}
