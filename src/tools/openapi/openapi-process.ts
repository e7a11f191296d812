import { serveIsolated } from '#base/isolation/serve-isolated.ts';
import { type DocumentTask, readDocument } from './read-document.ts';

/** Runs in a process of its own, one for each document. */
await serveIsolated<Omit<DocumentTask, 'text'>>((task, bytes) =>
  readDocument({ ...task, text: Buffer.from(bytes.buffer).toString() }),
);
