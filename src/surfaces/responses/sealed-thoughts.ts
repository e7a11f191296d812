import { isJsonObject, type JsonObject, tryParseJson } from '#base/json.ts';
import { type Seal, SealFault } from '#base/seal.ts';
import { protocols } from '#contract/configuration/protocols.ts';
import { ParleyError } from '#contract/errors.ts';
import type { Deployment } from '#domain/deployments/deployment.ts';
import { speaksMessages } from '#domain/upstreams/messages-upstream.ts';
import { speaksResponses } from '#domain/upstreams/responses-upstream.ts';
import type { Upstream } from '#domain/upstreams/upstream.ts';

/** What an answer leaves for the next turn that its text does not say. All of it travels sealed. */
export interface Thoughts {
  /** Signed blocks, as the compat wire has them. */
  readonly thinking_blocks?: readonly unknown[];
  /** Plain thoughts, for vendors that take them back so. */
  readonly reasoning_content?: string;
  /** What a vendor signed of the text. */
  readonly extra_content?: unknown;
  /** The same of calls, by their ids. */
  readonly calls?: Readonly<Record<string, unknown>>;
  /** What an application gave to be remembered. */
  readonly state?: JsonObject;
  /** What an upstream of the dialect sealed itself, as it came. */
  readonly encrypted_content?: string;
  /** What a compaction stands for. */
  readonly summary?: string;
}

/** Seals what only one user may send back, to the same kind of upstream. */
export class ThoughtSeal {
  readonly #seal: Seal;
  readonly #place: string;
  readonly #kinds: readonly string[];

  constructor(seal: Seal, subject: string, deployment: Deployment) {
    this.#seal = seal;
    this.#place = `thoughts of ${subject}`;
    this.#kinds = kindsOf(deployment);
  }

  close(thoughts: Thoughts): string {
    const kind = this.#kindOf(thoughts);
    return this.#seal.seal(JSON.stringify({ kind, ...thoughts }), this.#place);
  }

  /** Throws `invalid_encrypted_content`; `at` is the path of the text. */
  open(sealed: string, at: string): Thoughts {
    const { kind, ...thoughts } = this.#opened(sealed, at);
    if (kind === anyKind || this.#kinds.includes(String(kind))) return thoughts;
    throw invalidSealed(at, 'comes from another kind of model; leave the item out');
  }

  #opened(sealed: string, at: string): JsonObject {
    try {
      const value = tryParseJson(this.#seal.open(sealed, this.#place));
      if (isJsonObject(value)) return value;
    } catch (cause) {
      if (!(cause instanceof SealFault)) throw cause;
    }
    throw invalidSealed(at, 'was changed, or was not given to you here; leave the item out');
  }

  /** Of a deployment with upstreams of several kinds, the one whose form it has. */
  #kindOf({ encrypted_content: encrypted, thinking_blocks: blocks, summary, state }: Thoughts): string {
    const [first = anyKind, ...others] = this.#kinds;
    if (summary !== undefined || state !== undefined) return anyKind;
    if (others.length === 0) return first;
    const named = encrypted !== undefined ? 'responses' : blocks !== undefined ? 'claude' : 'gemini';
    return this.#kinds.includes(named) ? named : first;
  }
}

/** Of what any deployment may be told: an application knows its own state by itself. */
const anyKind = 'any';

/** Which kinds of upstreams a deployment has: what one has signed, only its kind takes back. */
function kindsOf({ upstreams, kind, quickApp }: Deployment): string[] {
  if (quickApp !== undefined || kind === 'application') return ['application'];
  return [...new Set(upstreams.map(kindOf))];
}

function kindOf(upstream: Upstream): string {
  if (speaksMessages(upstream)) return 'claude';
  if (speaksResponses(upstream)) return 'responses';
  return protocols[upstream.protocol].thoughtsOf ?? upstream.protocol;
}

function invalidSealed(at: string, claim: string): ParleyError {
  return new ParleyError('invalid_encrypted_content', `${at} ${claim}.`, { param: at });
}
