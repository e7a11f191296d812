import { type ReactNode, useCallback, useDeferredValue, useMemo, useState } from 'react';
import { filterObjects } from '#base/json/json.ts';
import { toReadableName } from '../forms/field.ts';
import { getSeverity, readState, type Severity, type Upstream } from '../operations/node-state.ts';
import { type Column, DataTable } from '../parts/data-table.tsx';
import { Icon } from '../parts/icon.tsx';
import { SearchField } from '../parts/search-field.tsx';
import { useLoaded } from '../parts/use-loaded.ts';
import { MoreButton } from '../parts/use-pages.tsx';
import { usePage } from '../shell/page.tsx';
import { formatRoute } from '../shell/route.ts';
import { useLanguage } from '../strings/strings.tsx';
import { AdminError } from './admin-error.tsx';
import { getKindTexts, useAdminStrings, useFieldStrings } from './admin-strings.ts';
import type { Entry, Kind } from './entries.ts';
import { ModelTest } from './model-test.tsx';
import { useEntries } from './use-entries.ts';

/** Number of rows that the table shows at first, and adds with each “Show more”. */
export const rowsAtATime = 50;

/** All entries of a kind, with a search. */
export function EntryList({ kind }: { readonly kind: Kind }) {
  const strings = useAdminStrings();
  const { entries, error, isLoading } = useEntries(kind.kind);
  const columns = useColumns(kind.kind);
  return (
    <EntrySection kind={kind.kind} isLoading={isLoading}>
      <AdminError error={error} />
      {entries !== undefined && (
        <EntryTable
          {...{ entries, columns, label: getKindTexts(strings, kind.kind).title }}
          empty={isLoading ? '' : getKindTexts(strings, kind.kind).empty}
        />
      )}
    </EntrySection>
  );
}

interface EntrySectionProps {
  readonly kind: string;
  readonly isLoading: boolean;
  readonly children: ReactNode;
}

/** The heading of a kind, with a link that adds an entry. */
export function EntrySection({ kind, isLoading, children }: EntrySectionProps) {
  const strings = useAdminStrings();
  const { isAdmin } = usePage();
  const { title, intro, add } = getKindTexts(strings, kind);
  return (
    <section className="sheet-section" aria-busy={isLoading}>
      <div className="sheet-title">
        <h2>{title}</h2>
        {isAdmin && (
          <a className="button primary" href={formatRoute({ at: 'administration', section: kind, id: '' })}>
            <Icon name="plus" />
            {add}
          </a>
        )}
      </div>
      {intro !== '' && <p className="soft">{intro}</p>}
      {children}
    </section>
  );
}

interface EntryTableProps {
  readonly label: string;
  readonly entries: readonly Entry[];
  readonly columns: readonly [Column<Entry>, ...Column<Entry>[]];
  readonly empty: string;
}

/** A table of entries. It renders only the first rows, but its search includes all. */
export function EntryTable({ label, entries, columns, empty }: EntryTableProps) {
  const strings = useAdminStrings();
  const { locale } = useLanguage();
  const [query, setQuery] = useState('');
  const [rowCount, setRowCount] = useState(rowsAtATime);
  const searchText = useDeferredValue(query).trim().toLowerCase();
  const matches = useMemo(
    () => (searchText === '' ? entries : entries.filter((entry) => toSearchText(entry).includes(searchText))),
    [entries, searchText],
  );
  if (entries.length === 0) return <p className="empty-state">{empty}</p>;
  const formatNumber = (count: number): string => count.toLocaleString(locale);
  return (
    <>
      {entries.length > 8 && (
        <SearchField
          label={strings.search}
          value={query}
          onChange={(text) => {
            setQuery(text);
            setRowCount(rowsAtATime);
          }}
        />
      )}
      <p className="soft small" role="status">
        {matches.length === entries.length
          ? strings.count(formatNumber(matches.length))
          : strings.found(formatNumber(matches.length), formatNumber(entries.length))}
      </p>
      {matches.length > 0 && (
        <DataTable<Entry>
          {...{ label, columns, rows: matches.slice(0, rowCount), getKey: ({ source, id }) => `${source} ${id}` }}
          isStacked
        />
      )}
      <MoreButton
        label={strings.showMore}
        loadMore={matches.length > rowCount ? () => setRowCount(rowCount + rowsAtATime) : undefined}
      />
    </>
  );
}

function toSearchText({ id, value, user, prefix }: Entry): string {
  const { displayName, description, name, project } = value;
  return [id, user, prefix, displayName, description, name, project]
    .filter((text) => typeof text === 'string')
    .join('\n')
    .toLowerCase();
}

/** A link to an entry, with its name and ID. */
export function EntryLink({ kind, entry: { id, value } }: { readonly kind: string; readonly entry: Entry }) {
  const name = [value.displayName, value.name].find(
    (text): text is string => typeof text === 'string' && text !== '' && text !== id,
  );
  return (
    <span className="entry-name">
      <a href={formatRoute({ at: 'administration', section: kind, id })}>{name ?? id}</a>
      {name !== undefined && <code className="soft small">{id}</code>}
    </span>
  );
}

export function SourceTag({ entry: { source } }: { readonly entry: Entry }) {
  const strings = useAdminStrings();
  return source === 'file' ? <span className="tag">{strings.fromFile}</span> : null;
}

function useColumns(kind: string): readonly [Column<Entry>, ...Column<Entry>[]] {
  const strings = useAdminStrings();
  const fieldStrings = useFieldStrings();
  const health = useHealth(kind === 'models');
  const { isAdmin } = usePage();
  const name: Column<Entry> = { name: strings.name, render: (entry) => <EntryLink {...{ kind, entry }} /> };
  const source: Column<Entry> = { name: strings.source, render: (entry) => <SourceTag entry={entry} /> };
  if (kind !== 'models')
    return [name, { name: strings.summary, render: ({ value }) => <Summary {...{ kind, value }} /> }, source];
  return [
    name,
    {
      name: fieldStrings.labels.protocol ?? '',
      render: ({ value }) => listProtocols(value, fieldStrings.options.protocol ?? {}),
    },
    { name: strings.health, render: ({ id }) => <Health severity={health?.get(id)} /> },
    ...(isAdmin ? [{ name: strings.test, render: (entry: Entry) => <ModelTest key={entry.etag} entry={entry} /> }] : []),
    source,
  ];
}

function listProtocols({ upstreams, protocol }: Entry['value'], names: Readonly<Record<string, string>>): string {
  const items = filterObjects(upstreams);
  const usedProtocols = items.map((upstream) => String(upstream.protocol ?? protocol ?? 'openai'));
  return [...new Set(usedProtocols)].map((name) => (Object.hasOwn(names, name) ? names[name] : name)).join(', ');
}

/** The description or address of an entry, or the names of its settings. */
function Summary({ kind, value }: { readonly kind: string; readonly value: Entry['value'] }) {
  const { labels } = useFieldStrings();
  const { description, endpoint, url, issuer } = value;
  const text = [description, endpoint, url, issuer].find((line): line is string => typeof line === 'string' && line !== '');
  const toLabel = (field: string): string => labels[`${kind}.${field}`] ?? labels[field] ?? toReadableName(field);
  return <span className="entry-summary">{text ?? Object.keys(value).map(toLabel).join(', ')}</span>;
}

/** Returns the worst severity of the upstreams of each model, as reported by the node that responds. */
function useHealth(isEnabled: boolean): ReadonlyMap<string, Severity> | undefined {
  const { service } = usePage();
  const load = useCallback(
    async (signal: AbortSignal) => (isEnabled ? findWorst((await readState(service, signal)).upstreams) : undefined),
    [service, isEnabled],
  );
  return useLoaded(load).value;
}

const severities: readonly Severity[] = ['good', 'warning', 'bad'];

function findWorst(upstreams: readonly Upstream[]): ReadonlyMap<string, Severity> {
  const worst = new Map<string, Severity>();
  for (const upstream of upstreams) {
    const severity = getSeverity(upstream);
    const worstSoFar = worst.get(upstream.deployment) ?? 'good';
    worst.set(
      upstream.deployment,
      severities[Math.max(severities.indexOf(worstSoFar), severities.indexOf(severity))] ?? severity,
    );
  }
  return worst;
}

function Health({ severity }: { readonly severity: Severity | undefined }) {
  const strings = useAdminStrings();
  if (severity === undefined) return null;
  return <span className={`verdict ${severity}`}>{strings.healthStates[severity]}</span>;
}
