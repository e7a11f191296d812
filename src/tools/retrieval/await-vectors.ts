import type { Clock } from '#base/clock.ts';
import type { IndexedDocument, PassageIndex } from '#domain/tools/passage-index.ts';
import type { ToolContext } from '#domain/tools/tool.ts';
import type { DocumentIndexer } from './indexing/document-indexer.ts';
import type { TextEmbedder } from './text-embedder.ts';

/** How long a question waits until its documents can be searched by what they mean. */
const patienceMs = 120_000;
const lookAgainMs = 500;
const tellEveryMs = 2000;

export interface AwaitVectorsDeps {
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
export async function awaitVectors(documents: readonly IndexedDocument[], deps: AwaitVectorsDeps): Promise<boolean> {
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
