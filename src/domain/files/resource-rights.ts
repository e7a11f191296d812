import { hash } from 'node:crypto';
import { ParleyError } from '#contract/errors/errors.ts';
import { isBoundKey } from '../callers/bound-key.ts';
import type { Caller } from '../callers/caller.ts';
import type { Permission } from '../callers/held-rights.ts';
import { madeByUsers, toStoredId } from '../deployments/application-place.ts';
import { appDataPath, bucketOf, bucketOfDeployment, publicBucket, sampleBucket } from './bucket.ts';
import { type FilePlace, isFolder, type ResourcePlace, toUrl } from './resource-place.ts';

const maxNameChars = 60;
const digestLength = 12;

/** What a caller may do with something stored, or with a folder and all below it, whether it is there or not (docs/files.md, Access). */
export function rightsTo(caller: Caller, place: ResourcePlace): readonly Permission[] {
  if (isOwn(caller, place)) return ['READ', 'WRITE'];
  return [...(mayRead(caller, place) ? (['READ'] as const) : []), ...(mayWrite(caller, place) ? (['WRITE'] as const) : [])];
}

/** Whether a caller may read something, or list a folder. */
export function mayRead(caller: Caller, place: ResourcePlace): boolean {
  return isOwn(caller, place) || isFormer(caller, place) || isForEverybody(caller, place) || isGranted(caller, place, 'READ');
}

/** Whether a caller may read a file only because something else than the user named it: such a right goes no further than it may. */
export function isOnlyAssistants(caller: Caller, place: ResourcePlace): boolean {
  if (caller.chain === null || isOwn(caller, place) || isForEverybody(caller, place)) return false;
  return caller.chain.rights.isOnlyAssistants(toUrl(place));
}

/** Whether a caller may store, change and delete something. */
function mayWrite(caller: Caller, place: ResourcePlace): boolean {
  return isOwn(caller, place) || isGranted(caller, place, 'WRITE');
}

/** Throws `access_denied` unless the caller may read it. */
export function requireReadable(caller: Caller, place: ResourcePlace): void {
  if (!mayRead(caller, place)) throw denied(caller, 'neither yours nor named in the request you answer');
}

/** Throws `access_denied` unless the caller may write it. */
export function requireWritable(caller: Caller, place: ResourcePlace): void {
  if (!mayWrite(caller, place)) throw denied(caller, 'not yours to change');
}

/**
 * A user has a bucket. An application has its own bucket or folder too, and a folder for its data in the bucket of the user whom
 * it answers. It never replaces the user as the owner of applications. A key that is bound to deployments has no bucket, and
 * hands no files on.
 */
function isOwn(caller: Caller, { kind, bucket, path }: ResourcePlace): boolean {
  const { subject, chain } = caller;
  if (chain === null) return bucketOf(subject) === bucket && !isBoundKey(caller);
  const deployment = chain.path.at(-1) ?? '';
  if (kind === 'applications') return false;
  const own = getOwnFolder(deployment);
  if (own.bucket === bucket && path.startsWith(own.path)) return true;
  return kind === 'files' && bucketOf(subject) === bucket && path.startsWith(`${appDataPath(deployment)}/`);
}

/** Whether earlier versions of Parley stored it for the application that answers: it may still read it. */
function isFormer({ chain }: Caller, { kind, bucket }: ResourcePlace): boolean {
  return chain !== null && kind !== 'applications' && bucketOfDeployment(chain.path.at(-1) ?? '') === bucket;
}

function isForEverybody({ chain }: Caller, place: ResourcePlace): boolean {
  if (place.bucket === publicBucket) return chain === null || place.kind !== 'applications';
  return place.bucket === sampleBucket && place.kind === 'files' && !isFolder(place);
}

function isGranted({ chain }: Caller, place: ResourcePlace, permission: Permission): boolean {
  return chain !== null && place.kind !== 'applications' && chain.rights.may(permission, toUrl(place));
}

function denied({ chain }: Caller, why: string): ParleyError {
  const told =
    chain === null ? 'GET /v1/bucket names your bucket' : 'GET /v1/bucket names where a per-request key may read and write';
  return new ParleyError('access_denied', `This is ${why}; ${told}.`);
}

/**
 * Returns the folder for an application's own files, independent of its user. `path` is empty for a whole bucket, otherwise it
 * ends with a slash.
 *
 * An application that a user saved has a folder in its owner's bucket. The owner's quota bounds it, and the owner lists and
 * deletes its files. A deployment of the configuration, or one that administrators published, has a bucket.
 */
export function getOwnFolder(deployment: string): FilePlace {
  const id = toStoredId(deployment);
  const [, maker = '', ...path] = id.startsWith(madeByUsers) ? id.split('/') : [];
  if (path.length === 0 || maker === publicBucket) return { bucket: bucketOfDeployment(deployment), path: '' };
  // One segment: the folder of `a` must not hold the folder of `a/b`.
  const name = [...(path.at(-1) ?? '')].slice(0, maxNameChars).join('');
  return { bucket: maker, path: `appfiles/${name}-${hash('sha256', id, 'hex').slice(0, digestLength)}/` };
}
