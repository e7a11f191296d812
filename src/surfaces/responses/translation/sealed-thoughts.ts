import { isJsonObject, type JsonObject, tryParseJson } from '#base/json/json.ts';
import { type Seal, SealError, UnknownSecretError } from '#base/secrets/seal.ts';
import { protocols } from '#contract/configuration/protocols.ts';
import { ParleyError } from '#contract/errors/errors.ts';
import type { Deployment } from '#domain/deployments/deployment.ts';
import { speaksMessages, speaksResponses, type Upstream } from '#domain/upstreams/upstream.ts';

/** Content of a reply that the next turn needs in addition to the text. It is always sealed. */
export interface HiddenContent {
  /** Signed blocks in the chat completions format. */
  readonly thinking_blocks?: readonly unknown[];
  /** Unsigned reasoning, for vendors that accept it in requests. */
  readonly reasoning_content?: string;
  /** Vendor signature of the text. */
  readonly extra_content?: unknown;
  /** Vendor signatures of calls, by call ID. */
  readonly calls?: Readonly<Record<string, unknown>>;
  /** State of an application. */
  readonly state?: JsonObject;
  /** Content that a Responses API upstream encrypted, unchanged. */
  readonly encrypted_content?: string;
  /** Summary in a compaction item. */
  readonly summary?: string;
}

/** An item with sealed content. */
export interface SealedItem {
  readonly type: string;
  readonly encrypted_content: string;
}

export function isSealed(item: object): item is SealedItem {
  return 'encrypted_content' in item && item.encrypted_content !== undefined;
}

/** Seals content that only the same user may send back, and only to the same kind of upstream. */
export class ThoughtSeal {
  readonly #seal: Seal;
  /** Context of the seal. Content that was sealed for another context cannot be opened. */
  readonly #context: string;
  readonly #kinds: readonly string[];
  readonly #stateKind: string;

  constructor(seal: Seal, subject: string, deployment: Deployment) {
    this.#seal = seal;
    this.#context = `thoughts of ${subject}`;
    this.#kinds = listKinds(deployment);
    this.#stateKind = `state of ${deployment.id}`;
  }

  /** Returns the sealed content. */
  close(content: HiddenContent): string {
    const kind = this.#getKind(content);
    return this.#seal.seal(JSON.stringify({ kind, ...content }), this.#context);
  }

  /**
   * Opens the sealed content of an item. Returns undefined for reasoning of another kind of model, for the state of another
   * application, and for content that was sealed with a removed secret. For a compaction, throws `invalid_encrypted_content`
   * instead, because a compaction replaces a complete conversation. Throws the same error for any content that was changed or
   * belongs to another user. `path` locates the item.
   */
  open({ type, encrypted_content: sealed }: SealedItem, path: string): HiddenContent | undefined {
    const contentPath = `${path}.encrypted_content`;
    const opened = this.#open(sealed, contentPath);
    if (opened !== undefined) {
      const { kind, ...thoughts } = opened;
      if (kind === anyKind || kind === this.#stateKind || this.#kinds.includes(String(kind))) return thoughts;
    }
    if (type !== 'compaction') return undefined;
    const origin = opened === undefined ? 'was encrypted with a secret that was removed' : 'comes from another kind of model';
    throw createInvalidContentError(contentPath, `${origin}. Remove the item`);
  }

  /** Returns undefined if the secret was removed. */
  #open(sealed: string, path: string): JsonObject | undefined {
    try {
      const value = tryParseJson(this.#seal.open(sealed, this.#context));
      if (isJsonObject(value)) return value;
    } catch (cause) {
      if (cause instanceof UnknownSecretError) return undefined;
      if (!(cause instanceof SealError)) throw cause;
    }
    throw createInvalidContentError(path, 'was modified or belongs to another user. Remove the item');
  }

  /** Returns the kind of content. If the upstreams have several kinds, the format of the content determines it. */
  #getKind({ encrypted_content: encrypted, thinking_blocks: blocks, summary, state }: HiddenContent): string {
    const [first = anyKind, ...otherKinds] = this.#kinds;
    if (summary !== undefined) return anyKind;
    if (state !== undefined) return this.#stateKind;
    if (otherKinds.length === 0) return first;
    const format = encrypted !== undefined ? 'responses' : blocks !== undefined ? 'claude' : 'gemini';
    return this.#kinds.includes(format) ? format : first;
  }
}

/** Kind of a summary, which any deployment understands. */
const anyKind = 'any';

/** Returns the kinds of a deployment's upstreams. Upstreams of one kind accept each other's signatures. */
function listKinds({ upstreams, kind, quickApp }: Deployment): string[] {
  if (quickApp !== undefined || kind === 'application') return ['application'];
  return [...new Set(upstreams.map(getKind))];
}

function getKind(upstream: Upstream): string {
  if (speaksMessages(upstream)) return 'claude';
  if (speaksResponses(upstream)) return 'responses';
  return protocols[upstream.protocol].thoughtFormat ?? upstream.protocol;
}

function createInvalidContentError(path: string, claim: string): ParleyError {
  return new ParleyError('invalid_encrypted_content', `${path} ${claim}.`, { param: path });
}
