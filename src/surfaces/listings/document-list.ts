import { adminRole } from '#contract/roles.ts';
import type { Caller } from '#domain/callers/caller.ts';
import type { Deployment } from '#domain/deployments/deployment.ts';
import type { DocumentProgress } from '#domain/tools/document-progress.ts';

/** `{object: "list", data: […]}`: how far the documents of an application are; the maker and those who administer are told where each lies. */
export function toDocumentList(
  documents: readonly DocumentProgress[],
  { caller, deployment }: { readonly caller: Caller; readonly deployment: Deployment },
): Record<string, unknown> {
  const isTold = caller.chain === null && (caller.subject === deployment.ownership?.owner || caller.roles.includes(adminRole));
  const data = documents.map(({ name, reference, state, isSearchable, reason = null, done, total = null }) => {
    return { name, ...(isTold && { reference }), state, searchable: isSearchable, reason, passages: { done, total } };
  });
  return { object: 'list', data };
}
