import { parentPort, workerData } from 'node:worker_threads';
import { chunkBlocks } from './chunk-blocks.ts';
import { DocumentFault } from './document-fault.ts';
import { loadBytes } from './load-bytes.ts';
import type { LoadingOutcome, LoadingTask } from './load-document.ts';

/** Runs in a thread of its own, one for each document: the bytes come with it, the passages go out. */
async function read({ bytes, label, bounds, maxPassages }: LoadingTask): Promise<LoadingOutcome> {
  try {
    const { title, format, blocks, note } = await loadBytes(bytes, label, bounds);
    const passages = chunkBlocks(blocks);
    if (passages.length === 0) return { failure: 'It is empty: there is no text in it.' };
    const isCut = passages.length > maxPassages;
    const cut = isCut ? `Only the first ${maxPassages} of its ${passages.length} passages were kept.` : undefined;
    const notes = [note, cut].filter((each) => each !== undefined).join(' ');
    return {
      title: title.slice(0, 300),
      format,
      passages: passages.slice(0, maxPassages),
      note: notes === '' ? undefined : notes,
    };
  } catch (thrown) {
    if (thrown instanceof DocumentFault) return { failure: thrown.message };
    throw thrown;
  }
}

parentPort?.postMessage(await read(workerData as LoadingTask));
