import type { Clock } from '#base/time/clock.ts';
import type { IndexedDocument, Passage, PassageIndex } from '#domain/tools/passage-index.ts';
import type { TextEmbedder } from '../text-embedder.ts';

const leaseMs = 120_000;
const usualAtOnce = 64;
/** Characters of title and headings before the text: more would push it out of what the model reads. */
const longestHead = 160;

/** A document whose passages shall have vectors of one model. */
export interface VectorRequest {
  readonly document: IndexedDocument;
  readonly embedder: TextEmbedder;
}

export interface VectorMakerDeps {
  readonly index: PassageIndex;
  readonly clock: Clock;
  readonly owner: string;
}

/** Gives passages their vectors, some at a time: what is done stays done. */
export class VectorMaker {
  readonly #deps: VectorMakerDeps;

  constructor(deps: VectorMakerDeps) {
    this.#deps = deps;
  }

  /** One step. `elsewhere` if another node is doing it. Throws StoreFault, what the embedder throws, the signal's reason. */
  async step({ document, embedder }: VectorRequest, signal: AbortSignal): Promise<'more' | 'done' | 'elsewhere'> {
    const { index, clock, owner } = this.#deps;
    const name = `vectors ${document.id} ${embedder.model}`;
    const nowMs = clock.epochMs();
    if (!(await index.claim({ name, owner, nowMs, untilMs: nowMs + leaseMs }))) return 'elsewhere';
    let isMore = false;
    try {
      isMore = await this.#makeSome({ document, embedder }, signal);
    } finally {
      if (!isMore) await index.release({ name, owner });
    }
    return isMore ? 'more' : 'done';
  }

  /** Gives whether there is more to do. What is done is counted under the lease: another node may have done some before it. */
  async #makeSome({ document, embedder }: VectorRequest, signal: AbortSignal): Promise<boolean> {
    const { index } = this.#deps;
    const key = { document: document.id, model: embedder.model };
    const first = await index.countVectors(key);
    if (first >= document.passages) return false;
    const { passagesAtOnce = usualAtOnce } = embedder;
    const passages = await index.read(document.id, first, first + passagesAtOnce);
    const texts = passages.map((passage) => toText(document.title, passage));
    await index.addVectors(key, { first, count: passages.length, vectors: joined(await embedder.embed(texts, signal)) });
    return first + passages.length < document.passages;
  }
}

/** What is searched of a passage: where it stands, and its text. */
function toText(title: string, { headings, text }: Passage): string {
  const [outermost] = headings;
  const head = [...(title === '' || title === outermost ? [] : [title]), ...headings].join(' › ');
  return head === '' ? text : `${head.slice(-longestHead)}\n${text}`;
}

function joined(vectors: readonly Float32Array[]): Float32Array {
  const all = new Float32Array(vectors.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const vector of vectors) {
    all.set(vector, at);
    at += vector.length;
  }
  return all;
}
