import type { Deployment } from '../deployments/deployment.ts';
import { bucketOf } from '../files/bucket.ts';
import { fromReference } from '../files/file-references.ts';
import type { FilePlace, ResourcePlace } from '../files/resource-place.ts';

/** Whether an application may read a file as its own document. An application that a user saved reads files of that user only. */
export function mayReadAsDocument({ bucket }: FilePlace, owner: string | null): boolean {
  return owner === null || bucketOf(owner) === bucket;
}

/** Whether a place is one of the documents that a quick app reads, and that it cites. */
export function isDocumentOf({ quickApp, ownership }: Deployment, { kind, bucket, path }: ResourcePlace): boolean {
  if (kind !== 'files' || !mayReadAsDocument({ bucket, path }, ownership?.owner ?? null)) return false;
  const documents = quickApp?.toolsets.flatMap((toolset) => (toolset.kind === 'documents' ? toolset.files : [])) ?? [];
  return documents.map(fromReference).some((place) => place?.bucket === bucket && place.path === path);
}
