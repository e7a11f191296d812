import { useId, useState } from 'react';
import type { EditorProps } from '../builder/editors/form.ts';
import { ValueEditor } from '../builder/editors/value-editor.tsx';
import { Icon, TextButton } from '../parts/icon.tsx';
import { QuestionDialog, useConfirmation } from '../parts/question-dialog.tsx';
import { SecretField } from '../parts/secret-field.tsx';
import { useAction } from '../parts/use-loaded.ts';
import { useModalDialog } from '../parts/use-modal-dialog.ts';
import { type ErrorDetails, toErrorDetails } from '../service/service-error.ts';
import { usePage } from '../shell/page.tsx';
import { formatDateTime } from '../strings/formats.ts';
import { useLanguage } from '../strings/strings.tsx';
import { AdminError } from './admin-error.tsx';
import { getKindTexts, useAdminStrings } from './admin-strings.ts';
import { type CreatedKey, deleteEntry, type Entry, type Kind, migrateEntry, readEntry, rotateKey, saveEntry } from './entries.ts';
import { ModelTest } from './model-test.tsx';
import { useEntries } from './use-entries.ts';
import type { EntryDraft } from './use-entry-draft.ts';
import '../parts/question-dialog.css';

interface EntryActionsProps {
  readonly kind: Kind;
  readonly name: string;
  readonly draft: EntryDraft;
  readonly stored: Entry;
}

/** Actions on a stored entry: test, copy from the configuration file, delete, and the actions of a key. */
export function EntryActions({ kind, name, draft, stored }: EntryActionsProps) {
  const { isAdmin } = usePage();
  const canTest = kind.kind === 'models' || kind.kind === 'applications';
  return (
    <>
      {stored.source === 'file' && <FileNote {...{ kind, stored }} />}
      {isAdmin && (
        <div className="entry-actions">
          {canTest && <ModelTest entry={stored} />}
          {kind.kind === 'keys' && <KeyActions {...{ draft, stored }} />}
          {stored.source !== 'file' && <DeleteButton {...{ kind, name, id: stored.id }} />}
        </div>
      )}
    </>
  );
}

/** A note that a configuration file defines the entry, with a button that copies it to the database. */
function FileNote({ kind, stored }: Pick<EntryActionsProps, 'kind' | 'stored'>) {
  const strings = useAdminStrings();
  const { service, isAdmin } = usePage();
  const [isMoved, setIsMoved] = useState(false);
  const { error, run } = useAction();
  const move = (): void => void run(() => migrateEntry(service, kind.kind, stored.id).then(() => setIsMoved(true)));
  return (
    <div className="file-note">
      <p role="status">{isMoved ? strings.moved : strings.fileNote}</p>
      {isAdmin && !isMoved && <TextButton onClick={move}>{strings.move}</TextButton>}
      <AdminError error={error} />
    </div>
  );
}

/** A button that deletes an entry after a confirmation. If other entries refer to it, it lists them and asks again. */
function DeleteButton({ kind, name, id }: Pick<EntryActionsProps, 'kind' | 'name'> & { readonly id: string }) {
  const strings = useAdminStrings();
  const { service, go, announce, refresh } = usePage();
  const { askConfirmation, dialog } = useConfirmation();
  const [error, setError] = useState<ErrorDetails>();
  const remove = async (isForced: boolean): Promise<void> => {
    setError(undefined);
    try {
      await deleteEntry(service, kind.kind, id, isForced);
      announce(strings.deleted(name));
      go({ at: 'administration', section: kind.kind });
      await refresh().catch(() => undefined);
    } catch (error) {
      const details = toErrorDetails(error);
      const isInUse = details.code === 'in_use' && !isForced;
      if (!isInUse) return setError(details);
      const question = strings.deleteInUse(name, (details.usedBy ?? []).join(', '));
      if (await askConfirmation(question, strings.deleteAnyway)) await remove(true);
    }
  };
  const confirm = async (): Promise<void> => {
    const { deleteEffect = strings.deleteEffect } = getKindTexts(strings, kind.kind);
    if (await askConfirmation(strings.deleteQuestion(name, deleteEffect), strings.delete)) await remove(false);
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

/** Choices for the time, in seconds, during which a replaced secret still works. */
const overlaps = [0, 3600, 86_400, 7 * 86_400] as const;

/** Data of a key, and the actions that rotate, block, and unblock it. */
function KeyActions({ draft, stored }: { readonly draft: EntryDraft; readonly stored: Entry }) {
  const strings = useAdminStrings();
  const { locale } = useLanguage();
  const { service, announce } = usePage();
  const [overlap, setOverlap] = useState<number>(3600);
  const [isRotating, setIsRotating] = useState(false);
  const [rotation, setRotation] = useState<{ readonly createdKey: CreatedKey; readonly rotatedEntry: Entry | undefined }>();
  const { error, run } = useAction();
  const isBlocked = stored.value.disabled === true;
  const rotate = async (): Promise<void> => {
    const createdKey = await rotateKey(service, stored.id, overlap);
    // Read before the dialog closes, because the next action needs the new ETag. If reading fails, the secret must still be
    // shown.
    setRotation({ createdKey, rotatedEntry: await readEntry(service, 'keys', stored.id).catch(() => undefined) });
  };
  const setBlocked = async (disabled: boolean): Promise<void> => {
    draft.accept(await saveEntry(service, 'keys', { id: stored.id, etag: stored.etag, value: { ...stored.value, disabled } }));
    announce(disabled ? strings.keyBlocked : strings.keyUnblocked);
  };
  const { prefix, lastUsedAtMs } = stored;
  const button = { type: 'button', className: 'button', 'aria-disabled': draft.isDirty } as const;
  return (
    <>
      <p className="soft key-facts">
        {isBlocked && <strong className="error-text">{strings.blocked}</strong>}
        {prefix !== '' && <code>{prefix}…</code>}
        {lastUsedAtMs !== undefined && (
          <span>{lastUsedAtMs === null ? strings.neverUsed : strings.lastUsed(formatDateTime(lastUsedAtMs, locale))}</span>
        )}
      </p>
      {stored.source !== 'file' && (
        <>
          <button {...button} onClick={() => setIsRotating(!draft.isDirty)}>
            {strings.rotate}
          </button>
          <button {...button} onClick={() => !draft.isDirty && void run(() => setBlocked(!isBlocked))}>
            {isBlocked ? strings.unblock : strings.block}
          </button>
        </>
      )}
      <AdminError error={error} />
      {isRotating && (
        <QuestionDialog
          {...{ question: strings.rotateQuestion, confirmLabel: strings.rotate, onConfirm: () => void run(() => rotate()) }}
          onClose={() => setIsRotating(false)}
        >
          <label className="field">
            {strings.overlap}
            <select value={overlap} onChange={({ target }) => setOverlap(Number(target.value))}>
              {overlaps.map((seconds) => (
                <option key={seconds} value={seconds}>
                  {strings.overlapName(seconds)}
                </option>
              ))}
            </select>
          </label>
        </QuestionDialog>
      )}
      {rotation !== undefined && (
        <SecretDialog
          createdKey={rotation.createdKey}
          onClose={() => {
            setRotation(undefined);
            if (rotation.rotatedEntry === undefined) void draft.load();
            else draft.accept(rotation.rotatedEntry);
          }}
        />
      )}
    </>
  );
}

/** An editor for a field of a new key. Warns if the team already has a key, because all keys of a team share data. */
export function NewKeyEditor(props: EditorProps) {
  return (
    <>
      <ValueEditor {...props} />
      {props.path.join('.') === 'project' && <TeamWarning team={props.value} />}
    </>
  );
}

function TeamWarning({ team }: { readonly team: unknown }) {
  const strings = useAdminStrings();
  const { entries = [] } = useEntries('keys');
  const key = entries.find(({ source, value }) => source !== 'user' && value.project === team);
  if (key === undefined) return null;
  return (
    <p className="conflict-note" role="alert">
      {strings.teamHasKey(String(team), String(key.value.name ?? key.id))}
    </p>
  );
}

/** Shows a new key once. A click outside does not close the dialog. */
export function SecretDialog({ createdKey, onClose }: { readonly createdKey: CreatedKey; readonly onClose: () => void }) {
  const strings = useAdminStrings();
  const { dialog, closeDialog } = useModalDialog(onClose);
  const titleId = useId();
  return (
    <dialog {...{ ref: dialog, className: 'question-dialog form-dialog', 'aria-labelledby': titleId }}>
      <h2 id={titleId}>{strings.newKey}</h2>
      <SecretField secret={createdKey.key} name={strings.newKey} copyLabel={strings.copyKey} />
      <p>{strings.shownOnce}</p>
      <div className="row end">
        <TextButton className="button primary" onClick={closeDialog}>
          {strings.keySaved}
        </TextButton>
      </div>
    </dialog>
  );
}
