import { ParleyError } from '#contract/errors.ts';
import type { Caller } from '../callers/caller.ts';
import { bucketOf, sampleBucket } from './bucket.ts';
import { type FilePlace, toReference } from './file-references.ts';

/** Throws `access_denied` unless a file lies in the caller's own bucket, was handed to it, or ships with the product. */
export function requireReadable(caller: Caller, place: FilePlace): void {
  if (isOwner(caller, place) || caller.chain?.files.has(toReference(place)) || place.bucket === sampleBucket) return;
  throw new ParleyError('access_denied', 'This file is neither in your bucket nor named in the request you answer.');
}

/** Throws `access_denied` unless the bucket is the caller's own: what per-request keys carry can only be read. */
export function requireOwner(caller: Caller, place: Pick<FilePlace, 'bucket'>): void {
  if (isOwner(caller, place)) return;
  throw new ParleyError(
    'access_denied',
    caller.chain === null
      ? 'This bucket is not yours; GET /v1/bucket names yours.'
      : 'A per-request key can only read the files that the request named.',
  );
}

function isOwner({ subject, chain }: Caller, { bucket }: Pick<FilePlace, 'bucket'>): boolean {
  return chain === null && bucketOf(subject) === bucket;
}
