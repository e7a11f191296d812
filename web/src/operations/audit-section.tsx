import { useCallback, useEffect, useId, useState } from 'react';
import { usePage } from '../page/page.tsx';
import { DataTable } from '../parts/data-table.tsx';
import { DeploymentName } from '../parts/deployment-name.tsx';
import { Trouble } from '../parts/trouble.tsx';
import { useLoaded } from '../parts/use-loaded.ts';
import { type Fault, faultOf } from '../service/fault.ts';
import { useLanguage } from '../words/words.tsx';
import { useOperationsWords } from './operations-words.ts';
import { type AuditPage, type AuditRecord, readAudit } from './read-operations.ts';
import { toMoment } from './to-moment.ts';

const kinds = ['consent', 'application', 'configuration', 'credentials'] as const;

interface AuditSectionProps {
  /** Grows when everything is to be read anew. */
  readonly round: number;
  /** What the rest of the page shows: another object each time that it is brought up to date. */
  readonly latest: object | undefined;
}

/** What was done that somebody may have to answer for, the newest first. What comes while it is read is offered, not put above it. */
export function AuditSection({ round, latest }: AuditSectionProps) {
  const words = useOperationsWords();
  const { service } = usePage();
  const [kind, setKind] = useState('');
  const field = useId();
  // biome-ignore lint/correctness/useExhaustiveDependencies: another round reads anew
  const load = useCallback((signal: AbortSignal) => readAudit(service, { kind, signal }), [service, kind, round]);
  const { value: first, fault, isLoading, reload } = useLoaded(load);
  const hasNewer = useHasNewer({ first, kind, latest });
  const [older, setOlder] = useState<{ behind: AuditPage; pages: readonly AuditPage[] }>();
  const [failed, setFailed] = useState<Fault>();
  const pages = first === undefined ? [] : [first, ...(older?.behind === first ? older.pages : [])];
  const records = pages.flatMap((page) => page.records);
  const token = pages.at(-1)?.next;
  const more = (): void => {
    if (first === undefined || token === undefined) return;
    readAudit(service, { kind, token }).then(
      (page) => setOlder({ behind: first, pages: [...pages.slice(1), page] }),
      (thrown: unknown) => setFailed(faultOf(thrown)),
    );
  };
  return (
    <section className="sheet-section" aria-busy={isLoading}>
      <div className="sheet-title">
        <h2>{words.audit}</h2>
        <div className="audit-kind">
          <label htmlFor={field}>{words.kind}</label>
          <select id={field} value={kind} onChange={({ target }) => setKind(target.value)}>
            <option value="">{words.everything}</option>
            {kinds.map((each) => (
              <option key={each} value={each}>
                {words.kinds[each]}
              </option>
            ))}
          </select>
        </div>
      </div>
      <Trouble fault={fault ?? failed} />
      {first !== undefined && records.length === 0 && <p className="soft">{words.noRecords}</p>}
      {hasNewer && (
        <div>
          <button type="button" className="button" onClick={reload}>
            {words.newer}
          </button>
        </div>
      )}
      {records.length > 0 && <Records records={records} />}
      {token !== undefined && (
        <div>
          <button type="button" className="button" onClick={more}>
            {words.older}
          </button>
        </div>
      )}
    </section>
  );
}

interface Newer {
  readonly first: AuditPage | undefined;
  readonly kind: string;
  readonly latest: object | undefined;
}

/** Whether there is a record that was not there when the first page was read; looked for each time the rest is brought up to date. */
function useHasNewer({ first, kind, latest }: Newer): boolean {
  const { service } = usePage();
  const [newer, setNewer] = useState<AuditPage>();
  // biome-ignore lint/correctness/useExhaustiveDependencies: looked for anew each time
  useEffect(() => {
    if (first === undefined || latest === undefined || newer === first) return;
    const leaving = new AbortController();
    const { signal } = leaving;
    readAudit(service, { kind, limit: 1, signal }).then(
      ({ records: [newest] }) => {
        if (!signal.aborted && newest !== undefined && newest.id !== first.records[0]?.id) setNewer(first);
      },
      () => undefined,
    );
    return () => leaving.abort();
  }, [latest]);
  return first !== undefined && newer === first;
}

function Records({ records }: { readonly records: readonly AuditRecord[] }) {
  const words = useOperationsWords();
  const { language } = useLanguage();
  return (
    <DataTable<AuditRecord>
      label={words.audit}
      isStacked
      rows={records}
      keyOf={({ id }) => id}
      columns={[
        {
          name: words.time,
          show: ({ atMs }) => (
            <time className="audit-time" dateTime={new Date(atMs).toISOString()}>
              {toMoment(atMs, language)}
            </time>
          ),
        },
        { name: words.action, show: ({ action }) => (Object.hasOwn(words.actions, action) ? words.actions[action] : action) },
        { name: words.who, show: ({ user }) => user },
        { name: words.object, show: (record) => <Target {...record} /> },
        { name: words.details, show: ({ details }) => <Details details={details} /> },
      ]}
    />
  );
}

/** Consents and applications are of a deployment. */
function Target({ action, object }: AuditRecord) {
  return /^(consent|application)\./.test(action) ? <DeploymentName id={object} /> : object;
}

function Details({ details }: Pick<AuditRecord, 'details'>) {
  return Object.entries(details)
    .map(([name, value]) => `${name}: ${String(value)}`)
    .join(', ');
}
