import { useCallback, useState } from 'react';
import { Icon, TextButton } from '../parts/icon.tsx';
import { useConfirmation } from '../parts/question-dialog.tsx';
import { useAction } from '../parts/use-loaded.ts';
import { MoreButton, usePages } from '../parts/use-pages.tsx';
import { usePage } from '../shell/page.tsx';
import { formatRoute } from '../shell/route.ts';
import { formatDateTime } from '../strings/formats.ts';
import { useLanguage } from '../strings/strings.tsx';
import { AdminError } from './admin-error.tsx';
import { getKindTexts, useAdminStrings, useFieldStrings } from './admin-strings.ts';
import { DifferenceList } from './difference-list.tsx';
import { type Change, type Kind, listChanges, readChange, rollBack, type Write } from './entries.ts';
import { expandDifference, toPathLabel } from './form-schema.ts';

/** Changes at run time, the latest first, each with its author and its differences. */
export function ChangesSection({ kinds }: { readonly kinds: readonly Kind[] }) {
  const strings = useAdminStrings();
  const { service } = usePage();
  const load = useCallback((token?: string, signal?: AbortSignal) => listChanges(service, token, signal), [service]);
  const { pages, error, isLoading, loadMore, reload } = usePages(load);
  const changes = pages.flatMap((page) => page.changes);
  return (
    <section className="sheet-section" aria-label={strings.changes} aria-busy={isLoading}>
      <h2>{strings.changes}</h2>
      <p className="soft">{strings.changesIntro}</p>
      <AdminError error={error} />
      {pages.length > 0 && changes.length === 0 && <p className="empty-state">{strings.noChanges}</p>}
      {changes.length > 0 && (
        <ol className="change-list">
          {changes.map((change) => (
            <ChangeItem key={change.id} {...{ change, kinds, reload }} />
          ))}
        </ol>
      )}
      <MoreButton loadMore={loadMore} label={strings.older} />
    </section>
  );
}

/** Number of entries of a change that are visible at first. */
const maxWrites = 10;

interface ChangeItemProps {
  readonly change: Change;
  readonly kinds: readonly Kind[];
  readonly reload: () => void;
}

function ChangeItem({ change: { id, atMs, user, action, writes: firstWrites, writeCount }, kinds, reload }: ChangeItemProps) {
  const strings = useAdminStrings();
  const { locale } = useLanguage();
  const { service, isAdmin, announce, refresh } = usePage();
  const { askConfirmation, dialog } = useConfirmation();
  const { error, run } = useAction();
  const [allWrites, setAllWrites] = useState<readonly Write[]>();
  const writes = allWrites ?? firstWrites.slice(0, maxWrites);
  const undo = async (): Promise<void> => {
    if (!(await askConfirmation(strings.undoQuestion, strings.undo))) return;
    await run(async () => {
      await rollBack(service, id);
      announce(strings.undone);
      reload();
      await refresh().catch(() => undefined);
    });
  };
  const expand = async (): Promise<void> =>
    setAllWrites(firstWrites.length < writeCount ? (await readChange(service, id)).writes : firstWrites);
  const time = formatDateTime(atMs, locale);
  return (
    <li>
      <div className="sheet-title">
        <p>
          <strong>{strings.changeActions[action] ?? action}</strong>
          <span className="soft">
            {' · '}
            {user} · <time dateTime={new Date(atMs).toISOString()}>{time}</time>
          </span>
        </p>
        {isAdmin && (
          <button type="button" className="button slim" aria-label={strings.undoNamed(time)} onClick={() => void undo()}>
            {strings.undo}
          </button>
        )}
      </div>
      {writes.map((write) => (
        <WriteItem key={`${write.kind} ${write.id}`} {...{ write, kinds }} />
      ))}
      {writes.length < writeCount && (
        <div>
          <TextButton className="button slim" onClick={() => void run(expand)}>
            {strings.showAll(writeCount.toLocaleString(locale))}
          </TextButton>
        </div>
      )}
      {dialog}
      <AdminError error={error} />
    </li>
  );
}

function WriteItem({
  write: { kind, id, action, differences },
  kinds,
}: {
  readonly write: Write;
  readonly kinds: readonly Kind[];
}) {
  const strings = useAdminStrings();
  const fieldStrings = useFieldStrings();
  const section = kinds.find((entryKind) => entryKind.kind === kind)?.section ?? kind;
  const title = `${getKindTexts(strings, kind).title} › ${id}`;
  const labeledDifferences = differences.flatMap(expandDifference).map(({ path, before, after }) => ({
    label: toPathLabel(path, { kind, id, section }, fieldStrings) || strings.everything,
    ...{ before, after },
  }));
  return (
    <div className="change-write">
      <p>
        {strings.writeActions[action] ?? action}{' '}
        {action === 'deleted' ? title : <a href={formatRoute({ at: 'administration', section: kind, id })}>{title}</a>}
      </p>
      {action === 'updated' ? (
        <DifferenceList differences={labeledDifferences} />
      ) : (
        labeledDifferences.length > 0 && (
          <details className="more-settings">
            <summary>
              <Icon name="right" />
              {strings.details}
            </summary>
            <DifferenceList differences={labeledDifferences} />
          </details>
        )
      )}
    </div>
  );
}
