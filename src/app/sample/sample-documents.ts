import { hash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { sampleBucket as bucket } from '#domain/files/bucket.ts';
import { toReference } from '#domain/files/file-references.ts';
import type { KeptTextsDeps } from '#services/files/kept-texts.ts';

export interface SampleDocument {
  readonly name: string;
  readonly contentType: string;
}

/** The documents of the sample app, as they lie in the folder `samples`. */
export const sampleDocuments: readonly SampleDocument[] = [
  { name: 'handbook.md', contentType: 'text/markdown' },
  { name: 'prices.csv', contentType: 'text/csv' },
  { name: 'questions.html', contentType: 'text/html' },
];

type Shelf = Pick<KeptTextsDeps, 'index' | 'blobs' | 'clock' | 'newId'>;

const folder = new URL('../../../samples/', import.meta.url);

export function toSampleReference({ name }: SampleDocument): string {
  return toReference({ bucket, path: name });
}

/** Puts those documents among the stored files that are not there yet as they are. Rejects where one cannot be read or stored. */
export async function storeSampleDocuments(shelf: Shelf): Promise<void> {
  for (const document of sampleDocuments) await store(document, shelf);
}

async function store({ name: path, contentType }: SampleDocument, { index, blobs, clock, newId }: Shelf): Promise<void> {
  const bytes = await readFile(new URL(path, folder));
  const etag = hash('sha256', bytes, 'base64url');
  if ((await index.find(bucket, path))?.etag === etag) return;
  const blob = newId();
  await blobs.write(blob, [bytes]);
  const now = clock.epochMs();
  const facts = { contentType, contentLength: bytes.length, etag, blob, createdAtMs: now, updatedAtMs: now };
  const put = await index.put({ bucket, path, ...facts }, undefined, Number.MAX_SAFE_INTEGER);
  if (put.outcome === 'stored' && put.replaced !== undefined) await blobs.delete(put.replaced.blob);
}
