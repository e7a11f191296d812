import { type FormEvent, useDeferredValue, useId, useMemo, useState } from 'react';
import { toText } from '#base/json/json.ts';
import { DeploymentName } from '../parts/deployment-name.tsx';
import { SearchField } from '../parts/search-field.tsx';
import { useLeaveQuestion } from '../parts/use-leave-question.tsx';
import { useAction } from '../parts/use-loaded.ts';
import { MoreButton } from '../parts/use-pages.tsx';
import type { Service } from '../service/service.ts';
import { usePage } from '../shell/page.tsx';
import { formatRoute } from '../shell/route.ts';
import { useLanguage } from '../strings/strings.tsx';
import { AdminError } from './admin-error.tsx';
import { useAdminStrings, useFieldStrings } from './admin-strings.ts';
import { type Entry, readEntry, saveEntry } from './entries.ts';
import { rowsAtATime } from './entry-list.tsx';
import {
  type CellChange,
  findInherited,
  findLimit,
  type LimitWindow,
  limitWindows,
  otherDeployments,
  parseLimit,
  type RoleLimits,
  readLimits,
  withLimits,
} from './limits.ts';
import { useEntries } from './use-entries.ts';

/** Limits as a table of deployments and roles, for one window at a time. */
export function LimitsSection() {
  const strings = useAdminStrings();
  const roles = useEntries('roles');
  const models = useEntries('models');
  const applications = useEntries('applications');
  const isLoading = [roles, models, applications].some(({ entries }) => entries === undefined);
  const { entries: roleEntries = [] } = roles;
  const names = useMemo(
    () => new Map([...(models.entries ?? []), ...(applications.entries ?? [])].map((entry) => [entry.id, readName(entry)])),
    [models.entries, applications.entries],
  );
  return (
    <section className="sheet-section" aria-busy={isLoading}>
      <h2>{strings.limits}</h2>
      <p className="soft">{strings.limitsIntro}</p>
      <AdminError error={roles.error ?? models.error ?? applications.error} />
      {!isLoading && roleEntries.length === 0 && (
        <p className="empty-state">
          {strings.noRoles} <a href={formatRoute({ at: 'administration', section: 'roles', id: '' })}>{strings.addRole}</a>
        </p>
      )}
      {roleEntries.length > 0 && !isLoading && <LimitsForm {...{ roles: roleEntries, names, reload: roles.reload }} />}
    </section>
  );
}

const readName = ({ id, value }: Entry): string => toText(value.displayName) || id;

interface LimitsFormProps {
  readonly roles: readonly Entry[];
  /** Names of the deployments by ID. */
  readonly names: ReadonlyMap<string, string>;
  readonly reload: () => void;
}

function LimitsForm({ roles, names, reload }: LimitsFormProps) {
  const strings = useAdminStrings();
  const { labels } = useFieldStrings();
  const { service, isAdmin, announce } = usePage();
  const [window, setWindow] = useState<LimitWindow>('day');
  const [changes, setChanges] = useState<readonly CellChange[]>([]);
  const [query, setQuery] = useState('');
  const [rowCount, setRowCount] = useState(rowsAtATime);
  const { error, isRunning: isSaving, run } = useAction();
  const windowId = useId();
  const searchText = useDeferredValue(query).trim().toLowerCase();
  const limitsByRole = useMemo(() => new Map(roles.map(({ id, value }) => [id, readLimits(value)])), [roles]);
  const rows = useMemo(() => listRows(names, limitsByRole, searchText), [names, limitsByRole, searchText]);
  const leaveQuestion = useLeaveQuestion(changes.length > 0 && !isSaving, strings.leaveQuestion, strings.discard);
  const isInvalid = changes.some(({ text }) => parseLimit(text) === null);
  const change = (cell: CellChange): void => setChanges((list) => [...list.filter((item) => !isSameCell(item, cell)), cell]);
  const save = async (): Promise<void> => {
    for (const [role, cells] of Map.groupBy(changes, ({ role: id }) => id)) {
      await saveCells({ service, role, cells, getInherited: (deployment) => findInherited(limitsByRole, role, deployment) });
      setChanges((current) => current.filter((cell) => cell.role !== role));
    }
    announce(strings.saved);
  };
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (!isInvalid && !isSaving && changes.length > 0) void run(save).then(reload);
  };
  return (
    <form className="limits-form" noValidate onSubmit={submit}>
      {leaveQuestion}
      <div className="limits-choices">
        <div className="field">
          <label htmlFor={windowId}>{strings.limitKind}</label>
          <select id={windowId} value={window} onChange={({ target }) => setWindow(target.value as LimitWindow)}>
            {limitWindows.map((limitWindow) => (
              <option key={limitWindow} value={limitWindow}>
                {labels[limitWindow]}
              </option>
            ))}
          </select>
        </div>
        {names.size > 8 && <SearchField label={strings.search} value={query} onChange={setQuery} />}
      </div>
      <LimitsTable
        {...{ roles, rows: rows.slice(0, rowCount), names, limitsByRole, window, changes, change }}
        canChange={isAdmin}
      />
      <MoreButton
        label={strings.showMore}
        loadMore={rows.length > rowCount ? () => setRowCount(rowCount + rowsAtATime) : undefined}
      />
      <p className="soft small">{strings.limitsNote}</p>
      {isInvalid && (
        <p className="error-text" role="alert">
          {strings.badLimit}
        </p>
      )}
      <AdminError error={error} />
      {isAdmin && (
        <div className="entry-bar">
          <span className="soft small">{changes.length > 0 ? strings.changedCells(changes.length) : strings.allSaved}</span>
          <button type="submit" className="button primary" aria-disabled={isSaving || isInvalid || changes.length === 0}>
            {isSaving ? strings.saving : strings.save}
          </button>
        </div>
      )}
    </form>
  );
}

interface LimitsTableProps {
  readonly roles: readonly Entry[];
  /** IDs of deployments, and `*`. */
  readonly rows: readonly string[];
  readonly names: ReadonlyMap<string, string>;
  readonly limitsByRole: ReadonlyMap<string, RoleLimits>;
  readonly window: LimitWindow;
  readonly changes: readonly CellChange[];
  readonly change: (cell: CellChange) => void;
  readonly canChange: boolean;
}

function LimitsTable({ roles, rows, names, limitsByRole, window, changes, change, canChange }: LimitsTableProps) {
  const strings = useAdminStrings();
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scroll container must be reachable by keyboard
    <section className="table-frame" tabIndex={0} aria-label={strings.limits}>
      <table className="data-table limits-table">
        <thead>
          <tr>
            <th scope="col">{strings.deployment}</th>
            {roles.map((role) => (
              <th key={role.id} scope="col">
                <a href={formatRoute({ at: 'administration', section: 'roles', id: role.id })}>{role.id}</a>
                {role.source === 'file' && <span className="tag">{strings.fromFile}</span>}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((deployment) => (
            <tr key={deployment}>
              <th scope="row">
                {deployment === otherDeployments ? (
                  strings.allOthers
                ) : (
                  <DeploymentName id={deployment} name={names.get(deployment)} />
                )}
              </th>
              {roles.map((role) => (
                <td key={role.id}>
                  <LimitCell {...{ role, deployment, names, limitsByRole, window, changes, change, canChange }} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

interface LimitCellProps extends Omit<LimitsTableProps, 'roles' | 'rows'> {
  readonly role: Entry;
  readonly deployment: string;
}

/** A cell with the limit of a role for a deployment. An inherited limit is the placeholder. */
function LimitCell({ role, deployment, names, limitsByRole, window, changes, change, canChange }: LimitCellProps) {
  const strings = useAdminStrings();
  const { language } = useLanguage();
  const cell = { role: role.id, deployment, window };
  const { value, isOwn } = findLimit(limitsByRole, cell);
  const number = value?.toLocaleString(language);
  const displayedLimit = number ?? strings.noLimit;
  if (!canChange || role.source === 'file') return <span className={isOwn ? undefined : 'soft'}>{displayedLimit}</span>;
  const input = changes.find((changed) => isSameCell(changed, cell));
  const name = deployment === otherDeployments ? strings.allOthers : (names.get(deployment) ?? deployment);
  return (
    <input
      {...{ type: 'text', inputMode: 'numeric', className: input && 'changed' }}
      aria-label={strings.limitFor(role.id, name)}
      aria-invalid={input !== undefined && parseLimit(input.text) === null}
      placeholder={isOwn ? strings.noLimit : displayedLimit}
      value={input?.text ?? (isOwn ? (number ?? '') : '')}
      onChange={({ target }) => change({ ...cell, text: target.value })}
    />
  );
}

function isSameCell(cell: Omit<CellChange, 'text'>, candidate: Omit<CellChange, 'text'>): boolean {
  return cell.role === candidate.role && cell.deployment === candidate.deployment && cell.window === candidate.window;
}

/** Lists `*`, and the deployments that match the search. They include deployments that only a role names. */
function listRows(
  names: ReadonlyMap<string, string>,
  limits: ReadonlyMap<string, RoleLimits>,
  searchText: string,
): readonly string[] {
  const roleDeployments = [...limits.values()].flatMap((role) => Object.keys(role));
  const all = [...new Set([...names.keys(), ...roleDeployments])].filter((id) => id !== otherDeployments).sort();
  return [otherDeployments, ...all.filter((id) => `${names.get(id)}\n${id}`.toLowerCase().includes(searchText))];
}

interface CellsToSave {
  readonly service: Service;
  readonly role: string;
  readonly cells: readonly CellChange[];
  readonly getInherited: Parameters<typeof withLimits>[2];
}

/** Stores the changed cells of a role in its latest version, to keep concurrent changes to other cells. */
async function saveCells({ service, role, cells, getInherited }: CellsToSave): Promise<void> {
  const latest = await readEntry(service, 'roles', role);
  await saveEntry(service, 'roles', { id: role, etag: latest.etag, value: withLimits(latest.value, cells, getInherited) });
}
