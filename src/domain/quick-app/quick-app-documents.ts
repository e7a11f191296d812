import type { Deployment } from '../deployments/deployment.ts';
import { toBucket } from '../files/bucket.ts';
import { parseReference } from '../files/file-references.ts';
import type { FileLocation, ResourceLocation } from '../files/resource-location.ts';

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
