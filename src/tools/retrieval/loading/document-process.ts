import { type SendPart, serveIsolated } from '#base/isolation/isolated-process.ts';
import { splitIntoBatches } from '#base/stream/batches.ts';
import { truncate } from '#base/text/truncate.ts';
import { chunkBlocks } from './chunk-blocks.ts';
import { loadBytes } from './load-bytes.ts';
import type { LoadingOutcome, LoadingTask } from './load-document.ts';
import { DocumentError } from './loader.ts';

const passagesPerBatch = 500;
const maxFailureChars = 300;

/** Runs in a separate process for each document. Receives the bytes, and sends the passages. */
async function readDocument(
  { label, bounds, maxPassages }: LoadingTask,
  bytes: Uint8Array<ArrayBuffer>,
  sendPart: SendPart,
): Promise<LoadingOutcome> {
  try {
    const { title, format, blocks, note } = await loadBytes(bytes, label, bounds);
    const passages = chunkBlocks(blocks);
    if (passages.length === 0) return { failure: 'It is empty: there is no text in it.' };
    const truncationNote = `Only the first ${maxPassages} of its ${passages.length} passages were kept.`;
    const notes = [note, passages.length > maxPassages ? truncationNote : undefined].filter(Boolean).join(' ');
    for (const batch of splitIntoBatches(passages.slice(0, maxPassages), passagesPerBatch)) await sendPart(batch);
    return { title: title.slice(0, 300), format, note: notes === '' ? undefined : notes };
  } catch (error) {
    // A message can contain a path in the document.
    if (error instanceof DocumentError) return { failure: truncate(error.message, maxFailureChars) };
    throw error;
  }
}

await serveIsolated(readDocument);
