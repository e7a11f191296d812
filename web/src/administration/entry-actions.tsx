import { useState } from 'react';
import { usePage } from '../page/page.tsx';
import { Icon } from '../parts/icon.tsx';
import { useConfirmation } from '../parts/question-dialog.tsx';
import { type ErrorDetails, toErrorDetails } from '../service/service-error.ts';
import { AdminError } from './admin-error.tsx';
import { deleteEntry, type Entry, type Kind, migrateEntry } from './entries.ts';
import { KeyActions } from './key-actions.tsx';
import { ModelTest } from './model-test.tsx';
import { useAdminStrings } from './strings/admin-strings.ts';
import type { EntryDraft } from './use-entry-draft.ts';

interface EntryActionsProps {
  readonly kind: Kind;
  readonly draft: EntryDraft;
  readonly stored: Entry;
}

/** Actions on a stored entry: test it, move it to run time, and delete it. */
export function EntryActions({ kind, draft, stored }: EntryActionsProps) {
  const { isAdmin } = usePage();
  const canTest = kind.kind === 'models' || kind.kind === 'applications';
  return (
    <>
      {stored.source === 'file' && <FileNote {...{ kind, stored }} />}
      {isAdmin && (
        <div className="entry-actions">
          {canTest && <ModelTest entry={stored} />}
          {kind.kind === 'keys' && <KeyActions {...{ draft, stored }} />}
          {stored.source !== 'file' && <DeleteButton {...{ kind, id: stored.id }} />}
        </div>
      )}
    </>
  );
}

/** Explains that a file has the entry, and copies it to run time. */
function FileNote({ kind, stored }: Pick<EntryActionsProps, 'kind' | 'stored'>) {
  const strings = useAdminStrings();
  const { service, isAdmin } = usePage();
  const [isMoved, setIsMoved] = useState(false);
  const [error, setError] = useState<ErrorDetails>();
  const move = (): void => {
    setError(undefined);
    migrateEntry(service, kind.kind, stored.id).then(
      () => setIsMoved(true),
      (error: unknown) => setError(toErrorDetails(error)),
    );
  };
  return (
    <div className="file-note">
      <p role="status">{isMoved ? strings.moved : strings.fileNote}</p>
      {isAdmin && !isMoved && (
        <button type="button" className="button" onClick={move}>
          {strings.move}
        </button>
      )}
      <AdminError error={error} />
    </div>
  );
}

/** Deletes an entry after a confirmation. If other entries need it, names them and asks again. */
function DeleteButton({ kind, id }: { readonly kind: Kind; readonly id: string }) {
  const strings = useAdminStrings();
  const { service, go, announce, refresh } = usePage();
  const { askConfirmation, dialog } = useConfirmation();
  const [error, setError] = useState<ErrorDetails>();
  const remove = async (isForced: boolean): Promise<void> => {
    setError(undefined);
    try {
      await deleteEntry(service, kind.kind, id, isForced);
      announce(strings.deleted(id));
      go({ at: 'administration', section: kind.kind });
      await refresh().catch(() => undefined);
    } catch (error) {
      const details = toErrorDetails(error);
      const isInUse = details.code === 'in_use' && !isForced;
      if (!isInUse) return setError(details);
      const question = strings.deleteInUse(id, (details.usedBy ?? []).join(', '));
      if (await askConfirmation(question, strings.deleteAnyway)) await remove(true);
    }
  };
  const confirm = async (): Promise<void> => {
    if (await askConfirmation(strings.deleteQuestion(id), strings.delete)) await remove(false);
  };
  return (
    <>
      <button type="button" className="button" onClick={() => void confirm()}>
        <Icon name="trash" />
        {strings.delete}
      </button>
      {dialog}
      <AdminError error={error} />
    </>
  );
}
