import { useCallback } from 'react';
import { filterObjects, type JsonObject, toObject } from '#base/json/json.ts';
import { DataTable } from '../parts/data-table.tsx';
import { useLoaded } from '../parts/use-loaded.ts';
import type { Service } from '../service/service.ts';
import { usePage } from '../shell/page.tsx';
import { formatDateTime } from '../strings/formats.ts';
import { useLanguage } from '../strings/strings.tsx';
import { AdminError } from './admin-error.tsx';
import { useAdminStrings } from './admin-strings.ts';
import { listAll } from './entries.ts';

/** A saved application that other users can use. */
interface SharedApplication {
  readonly id: string;
  readonly name: string;
  readonly owner: string;
  /** Names of the roles and users with access. */
  readonly access: readonly string[];
  readonly updatedAtMs: number;
}

function listShared(service: Service, signal: AbortSignal): Promise<readonly SharedApplication[]> {
  return listAll(service, 'shared-applications', toSharedApplication, { signal });
}

/** The saved applications that other users can use, with their owners and users. */
export function SharedSection() {
  const strings = useAdminStrings();
  const { locale } = useLanguage();
  const { service } = usePage();
  const load = useCallback((signal: AbortSignal) => listShared(service, signal), [service]);
  const { value: applications, error, isLoading } = useLoaded(load);
  return (
    <section className="sheet-section" aria-busy={isLoading}>
      <h2>{strings.sharedApplications}</h2>
      <p className="soft">{strings.sharedIntro}</p>
      <AdminError error={error} />
      {applications?.length === 0 && <p className="empty-state">{strings.nothingShared}</p>}
      {applications !== undefined && applications.length > 0 && (
        <DataTable<SharedApplication>
          label={strings.sharedApplications}
          isStacked
          rows={applications}
          getKey={({ id }) => id}
          columns={[
            {
              name: strings.application,
              render: ({ id, name }) => (
                <span className="deployment-name">
                  {name}
                  <span className="soft small">{id}</span>
                </span>
              ),
            },
            { name: strings.applicationOwner, render: ({ owner }) => owner },
            { name: strings.usedBy, render: ({ access }) => access.join(', ') },
            { name: strings.lastChange, render: ({ updatedAtMs }) => formatDateTime(updatedAtMs, locale) },
          ]}
        />
      )}
    </section>
  );
}

function toSharedApplication({ id, displayName, owner, roles, users, updatedAt }: JsonObject): SharedApplication {
  const path = String(id);
  const roleNames = Array.isArray(roles) ? roles.map(String) : [];
  return {
    id: path,
    name: typeof displayName === 'string' ? displayName : (path.split('/').at(-1) ?? path),
    owner: toName(toObject(owner)),
    access: [...filterObjects(users).map(toName), ...roleNames],
    updatedAtMs: Number(updatedAt),
  };
}

function toName({ id, name }: JsonObject): string {
  return typeof name === 'string' && name !== id ? `${name} (${String(id)})` : String(id);
}
