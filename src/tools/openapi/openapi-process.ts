import { serveIsolated } from '#base/isolation/isolated-process.ts';
import { type DocumentTask, readDocument } from './read-document.ts';

/** Entry point of a separate process, which reads one document. */
await serveIsolated<Omit<DocumentTask, 'text'>>((task, bytes) =>
  readDocument({ ...task, text: Buffer.from(bytes.buffer).toString() }),
);
