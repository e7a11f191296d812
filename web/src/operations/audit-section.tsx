import { useCallback, useEffect, useId, useState } from 'react';
import { filterObjects, type JsonObject, toObject, toText, tryParseJson } from '#base/json/json.ts';
import { DataTable } from '../parts/data-table.tsx';
import { DeploymentName } from '../parts/deployment-name.tsx';
import { ErrorMessage } from '../parts/error-message.tsx';
import { TextButton } from '../parts/icon.tsx';
import { MoreButton, usePages } from '../parts/use-pages.tsx';
import type { Service } from '../service/service.ts';
import { toDisplayName } from '../share/chat-shares.ts';
import { usePage } from '../shell/page.tsx';
import { formatDateTime } from '../strings/formats.ts';
import { useLanguage } from '../strings/strings.tsx';
import { useOperationsStrings } from './operations-strings.ts';

interface AuditSectionProps {
  /** Increments on a manual refresh. */
  readonly round: number;
  /** Data of the other sections. A new object after each refresh. */
  readonly latest: object | undefined;
}

/** Audit records, the newest first. A button loads new records, so that the list does not move while the user reads it. */
export function AuditSection({ round, latest }: AuditSectionProps) {
  const strings = useOperationsStrings();
  const { service } = usePage();
  const [kind, setKind] = useState('');
  const fieldId = useId();
  // biome-ignore lint/correctness/useExhaustiveDependencies: a manual refresh loads the records again
  const load = useCallback(
    (token?: string, signal?: AbortSignal) => readAudit(service, { kind, ...(token && { token }), ...(signal && { signal }) }),
    [service, kind, round],
  );
  const { pages, error, isLoading, loadMore, reload } = usePages(load);
  const hasNewer = useHasNewer({ first: pages[0], kind, latest });
  const records = pages.flatMap((page) => page.records);
  return (
    <section className="sheet-section" aria-busy={isLoading}>
      <div className="sheet-title">
        <h2>{strings.audit}</h2>
        <div className="audit-kind">
          <label htmlFor={fieldId}>{strings.kind}</label>
          <select id={fieldId} value={kind} onChange={({ target }) => setKind(target.value)}>
            <option value="">{strings.everything}</option>
            {Object.entries(strings.kinds).map(([kindName, name]) => (
              <option key={kindName} value={kindName}>
                {name}
              </option>
            ))}
          </select>
        </div>
      </div>
      <ErrorMessage error={error} />
      {pages.length > 0 && records.length === 0 && <p className="soft">{strings.noRecords}</p>}
      {hasNewer && (
        <div>
          <TextButton onClick={reload}>{strings.newer}</TextButton>
        </div>
      )}
      {records.length > 0 && <Records records={records} />}
      <MoreButton loadMore={loadMore} label={strings.older} />
    </section>
  );
}

interface NewerOptions {
  readonly first: AuditPage | undefined;
  readonly kind: string;
  readonly latest: object | undefined;
}

/** Returns whether records exist that are newer than the first page. Checks this on each refresh of the other sections. */
function useHasNewer({ first, kind, latest }: NewerOptions): boolean {
  const { service } = usePage();
  const [outdatedPage, setOutdatedPage] = useState<AuditPage>();
  // biome-ignore lint/correctness/useExhaustiveDependencies: checked again on each refresh
  useEffect(() => {
    if (first === undefined || latest === undefined || outdatedPage === first) return;
    const controller = new AbortController();
    const { signal } = controller;
    readAudit(service, { kind, limit: 1, signal }).then(
      ({ records: [newest] }) => {
        if (!signal.aborted && newest !== undefined && newest.id !== first.records[0]?.id) setOutdatedPage(first);
      },
      () => undefined,
    );
    return () => controller.abort();
  }, [latest]);
  return first !== undefined && outdatedPage === first;
}

function Records({ records }: { readonly records: readonly AuditRecord[] }) {
  const strings = useOperationsStrings();
  const { locale } = useLanguage();
  return (
    <DataTable<AuditRecord>
      label={strings.audit}
      isStacked
      rows={records}
      getKey={({ id }) => id}
      columns={[
        {
          name: strings.time,
          render: ({ atMs }) => (
            <time className="audit-time" dateTime={new Date(atMs).toISOString()}>
              {formatDateTime(atMs, locale)}
            </time>
          ),
        },
        {
          name: strings.action,
          render: ({ action }) => new Map(Object.entries(strings.actions)).get(action) ?? action,
        },
        { name: strings.user, render: ({ user }) => user !== '' && <span title={user}>{toDisplayName(user)}</span> },
        { name: strings.target, render: (record) => <Target {...record} /> },
        { name: strings.details, render: (record) => <Details {...record} /> },
      ]}
    />
  );
}

const uuidPattern = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/;

/** The target of an action. Consents and applications have deployments as targets. */
function Target({ action, object }: AuditRecord) {
  const { targets } = useOperationsStrings();
  const [kind = ''] = action.split('.');
  if (kind === 'consent' || kind === 'application') return <DeploymentName id={object} />;
  const description = kind === 'call' || uuidPattern.test(object) ? new Map(Object.entries(targets)).get(kind) : undefined;
  return object === '' ? null : <span title={object}>{description ?? toDisplayName(object)}</span>;
}

/** The translated details. The tooltip shows all details as they were recorded. */
function Details({ details }: AuditRecord) {
  const { detailNames, detailValues } = useOperationsStrings();
  const values = new Map(Object.entries(detailValues));
  const parts = Object.entries(detailNames).flatMap(([key, name]) => {
    const value = formatDetail(key, details[key]);
    return value === '' ? [] : [`${name}: ${values.get(value) ?? value}`];
  });
  const tooltip = Object.entries(details).map(([key, value]) => `${key}: ${String(value)}`);
  return parts.length === 0 ? null : <span title={tooltip.join('\n')}>{parts.join(', ')}</span>;
}

/** Formats the value of a detail. Users become names, and differences become the paths of the changed settings. */
function formatDetail(key: string, value: unknown): string {
  const text = value === undefined ? '' : String(value);
  if (key !== 'differences') return text.split(', ').map(toDisplayName).join(', ');
  const differences = filterObjects(tryParseJson(text));
  return differences.map(({ path }) => String(path)).join(', ');
}

interface AuditRecord {
  readonly id: string;
  readonly atMs: number;
  readonly action: string;
  /** '' if unknown. */
  readonly user: string;
  readonly object: string;
  readonly details: JsonObject;
}

interface AuditPage {
  readonly records: readonly AuditRecord[];
  /** Token of the next page. Undefined after the last page. */
  readonly next: string | undefined;
}

/** Loads one page of the audit log, the newest first. `kind` '' means all. Throws `ServiceError`. */
async function readAudit(
  service: Service,
  { kind, token, limit = 50, signal }: { kind: string; token?: string; limit?: number; signal?: AbortSignal },
): Promise<AuditPage> {
  const query = new URLSearchParams({
    limit: String(limit),
    ...(kind !== '' && { kind }),
    ...(token !== undefined && { token }),
  });
  const body = toObject(await service.json(`v1/admin/audit?${query}`, signal && { signal }));
  return {
    records: filterObjects(body.data).map(({ id, at, action, user, object, details }) => ({
      ...{ id: toText(id), atMs: Number(at), action: toText(action), user: toText(user) },
      ...{ object: toText(object), details: toObject(details) },
    })),
    next: toText(body.nextToken) || undefined,
  };
}
