import { readToolset } from '#contract/quick-app/read-toolset.ts';
import type { ToolsetRequest } from '#contract/toolset-request.ts';
import type { Caller } from '#domain/callers/caller.ts';
import { madeByUsers, toApplicationPlace } from '#domain/deployments/application-place.ts';
import type { ApplicationStore, StoredApplication } from '#domain/deployments/application-store.ts';
import type { QuickAppToolset } from '#domain/quick-app/quick-app.ts';
import { toQuickApp } from '#domain/quick-app/to-quick-app.ts';
import { notFound } from './place-in.ts';
import { refuseFaults } from './refuse-faults.ts';
import { requireOwner } from './who-may.ts';

interface ReadingToolset {
  readonly store: Pick<ApplicationStore, 'find'>;
  readonly caller: Caller;
}

/** The toolset of a request, with its secrets. Throws `invalid_request`, and `access_denied` and `deployment_not_found` for the application it names. */
export async function readToolsetRequest(
  { toolset, application }: ToolsetRequest,
  { store, caller }: ReadingToolset,
): Promise<QuickAppToolset> {
  const stored = application === undefined ? undefined : await findOwn(application, { store, caller });
  const { form, faults } = readToolset(toolset, stored?.entry.applicationProperties);
  refuseFaults(faults.map((fault) => ({ ...fault, path: ['toolset', ...fault.path] })));
  const [read] = toQuickApp(form).toolsets;
  if (read === undefined) throw notFound();
  return read;
}

async function findOwn(id: string, { store, caller }: ReadingToolset): Promise<StoredApplication> {
  const place = id.startsWith(madeByUsers) ? toApplicationPlace(id.slice(madeByUsers.length)) : undefined;
  if (place === undefined) throw notFound();
  requireOwner(caller, place);
  const stored = await store.find(place.id);
  if (stored === undefined) throw notFound();
  return stored;
}
