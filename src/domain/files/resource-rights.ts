import { hash } from 'node:crypto';
import { ParleyError } from '#contract/errors/errors.ts';
import { isBoundKey } from '../callers/bound-key.ts';
import type { Caller } from '../callers/caller.ts';
import type { Permission } from '../callers/held-rights.ts';
import { applicationPrefix, toStoredId } from '../deployments/application-location.ts';
import type { Deployment } from '../deployments/deployment.ts';
import { getAppDataPath, publicBucket, sampleBucket, toBucket, toDeploymentBucket } from './bucket.ts';
import { type FileLocation, isFolder, parseReference, type ResourceLocation, toUrl } from './resource-location.ts';

const maxNameChars = 60;
const digestLength = 12;
const unreferencedReason = ', and the request that your application is answering does not refer to it';

/**
 * Returns the permissions of a caller on a resource, or on a folder and its contents. The resource need not exist
 * (docs/files.md, Access).
 */
export function listPermissions(caller: Caller, location: ResourceLocation): readonly Permission[] {
  if (isOwnLocation(caller, location)) return ['READ', 'WRITE'];
  return [...(canRead(caller, location) ? (['READ'] as const) : []), ...(canWrite(caller, location) ? (['WRITE'] as const) : [])];
}

/** Returns whether a caller may read a resource or list a folder. */
export function canRead(caller: Caller, location: ResourceLocation): boolean {
  return (
    isOwnLocation(caller, location) ||
    isFormerLocation(caller, location) ||
    isPublicLocation(caller, location) ||
    isGranted(caller, location, 'READ')
  );
}

/**
 * Returns whether a caller may read a file only because a source other than the user named it. Such a right is forwarded only
 * where its origin permits.
 */
export function isAssistantOnly(caller: Caller, location: ResourceLocation): boolean {
  if (caller.chain === null || isOwnLocation(caller, location) || isPublicLocation(caller, location)) return false;
  return caller.chain.rights.isAssistantOnly(toUrl(location));
}

/** Returns whether a caller may store, change, and delete a resource. */
function canWrite(caller: Caller, location: ResourceLocation): boolean {
  return isOwnLocation(caller, location) || isGranted(caller, location, 'WRITE');
}

/** Throws `access_denied` unless the caller may read the resource. */
export function requireReadable(caller: Caller, location: ResourceLocation): void {
  if (!canRead(caller, location))
    throw createAccessDeniedError(caller, `This resource is not yours${caller.chain === null ? '' : unreferencedReason}`);
}

/** Throws `access_denied` unless the caller may write the resource. */
export function requireWritable(caller: Caller, location: ResourceLocation): void {
  if (!canWrite(caller, location)) throw createAccessDeniedError(caller, 'You cannot change this resource');
}

/**
 * Returns whether a caller owns a location. A user owns a bucket. An application owns a bucket or folder, and its data folder
 * in the bucket of the user whom it answers. It never owns applications. A key that is bound to deployments owns no bucket and
 * forwards no files.
 */
function isOwnLocation(caller: Caller, { kind, bucket, path }: ResourceLocation): boolean {
  const { subject, chain } = caller;
  if (chain === null) return toBucket(subject) === bucket && !isBoundKey(caller);
  const deployment = chain.path.at(-1) ?? '';
  if (kind === 'applications') return false;
  const ownFolder = getOwnFolder(deployment);
  if (ownFolder.bucket === bucket && path.startsWith(ownFolder.path)) return true;
  return kind === 'files' && toBucket(subject) === bucket && path.startsWith(`${getAppDataPath(deployment)}/`);
}

/**
 * Returns whether the location is in the bucket in which earlier versions of Parley stored resources of the answering
 * application. The application can still read them.
 */
function isFormerLocation({ chain }: Caller, { kind, bucket }: ResourceLocation): boolean {
  return chain !== null && kind !== 'applications' && toDeploymentBucket(chain.path.at(-1) ?? '') === bucket;
}

function isPublicLocation({ chain }: Caller, location: ResourceLocation): boolean {
  if (location.bucket === publicBucket) return chain === null || location.kind !== 'applications';
  return location.bucket === sampleBucket && location.kind === 'files' && !isFolder(location);
}

function isGranted({ chain }: Caller, location: ResourceLocation, permission: Permission): boolean {
  return chain !== null && location.kind !== 'applications' && chain.rights.allows(permission, toUrl(location));
}

function createAccessDeniedError({ chain }: Caller, reason: string): ParleyError {
  const hint =
    chain === null ? 'GET /v1/bucket returns your bucket' : 'GET /v1/bucket returns where a per-request key may read and write';
  return new ParleyError('access_denied', `${reason}. ${hint}.`);
}

/**
 * Returns the folder for an application's own files, independent of its user. `path` is empty for a complete bucket, otherwise
 * it ends with a slash.
 * An application that a user saved has a folder in its owner's bucket. The owner's quota bounds it, and the owner lists and
 * deletes its files. A deployment of the configuration, or one that administrators published, has a bucket.
 */
export function getOwnFolder(deployment: string): FileLocation {
  const id = toStoredId(deployment);
  const [, owner = '', ...path] = id.startsWith(applicationPrefix) ? id.split('/') : [];
  if (path.length === 0 || owner === publicBucket) return { bucket: toDeploymentBucket(deployment), path: '' };
  // One segment: the folder of `a` must not contain the folder of `a/b`.
  const name = [...(path.at(-1) ?? '')].slice(0, maxNameChars).join('');
  return { bucket: owner, path: `appfiles/${name}-${hash('sha256', id, 'hex').slice(0, digestLength)}/` };
}

/**
 * Returns whether an application may read a file as its own document. An application that a user saved reads only files of that
 * user.
 */
export function canReadAsDocument({ bucket }: FileLocation, owner: string | null): boolean {
  return owner === null || toBucket(owner) === bucket;
}

/** Returns whether a location is one of the documents that a quick app reads and cites. */
export function isApplicationDocument({ quickApp, ownership }: Deployment, { kind, bucket, path }: ResourceLocation): boolean {
  if (kind !== 'files' || !canReadAsDocument({ bucket, path }, ownership?.owner ?? null)) return false;
  const documents = quickApp?.toolsets.flatMap((toolset) => (toolset.kind === 'documents' ? toolset.files : [])) ?? [];
  return documents.map(parseReference).some((location) => location?.bucket === bucket && location.path === path);
}
