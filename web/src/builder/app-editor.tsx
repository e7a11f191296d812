import { type ReactNode, type RefObject, useEffect, useRef, useState } from 'react';
import { Icon, TextButton } from '../parts/icon.tsx';
import { PageHeader, useTitle } from '../parts/named-page.tsx';
import { useConfirmation } from '../parts/question-dialog.tsx';
import { useLeaveQuestion } from '../parts/use-leave-question.tsx';
import { usePage } from '../shell/page.tsx';
import { formatRoute } from '../shell/route.ts';
import { useStrings } from '../strings/strings.tsx';
import { AppSheet } from './app-sheet.tsx';
import { getName, isShared } from './applications.ts';
import { useBuilderStrings } from './builder-strings.ts';
import { useEvaluations } from './evaluation/use-evaluations.ts';
import { TestChat } from './test-chat/test-chat.tsx';
import { type AppDraft, type InitialDraft, useAppDraft } from './use-app-draft.ts';

interface AppEditorProps {
  /** '' for an application that is not saved yet. */
  readonly id: string;
  readonly initialDraft: InitialDraft | undefined;
  readonly openMenu: () => void;
  readonly onCreated: (id: string) => void;
}

/** Editor of one application, with save and try actions and a test chat. */
export function AppEditor({ id, initialDraft, openMenu, onCreated }: AppEditorProps) {
  const strings = useBuilderStrings();
  const { go, announce } = usePage();
  const draft = useAppDraft(id, initialDraft);
  const { entry, stored, isDirty } = draft;
  const [isInvalid, setIsInvalid] = useState(false);
  const [isTesting, setIsTesting] = useState(false);
  const title = useName(id, draft);
  useTitle(title);
  const evaluationState = useEvaluations(stored);
  const isMounted = useIsMounted();

  const save = async (mode?: 'overwrite'): Promise<string | undefined> => {
    if (isInvalid) return undefined;
    const saved = await draft.save(mode);
    if (saved === undefined) return undefined;
    announce(strings.saved);
    if (id !== saved.id && isMounted.current) onCreated(saved.id);
    return saved.id;
  };
  const tryIt = async (): Promise<void> => {
    const savedId = isDirty && !isShared(stored) ? await save() : stored?.id;
    if (savedId !== undefined && isMounted.current) go({ at: 'new', deployment: savedId });
  };
  const closeTest = (): void => {
    setIsTesting(false);
    document.querySelector<HTMLElement>('.page-header [aria-pressed]')?.focus();
  };
  useSaveKey(() => void save());
  const leaveQuestion = useLeaveGuard({ hasDraft: draft.isTouched && !draft.isSaving, isInvalid });
  return (
    <main className="content">
      {leaveQuestion}
      <PageHeader openMenu={openMenu}>
        <a className="quiet-link builder-back" href={formatRoute({ at: 'applications' })}>
          <Icon name="left" />
          {strings.back}
        </a>
        {entry !== undefined && (
          <button type="button" className="button slim" aria-pressed={isTesting} onClick={() => setIsTesting(!isTesting)}>
            {strings.testChat}
          </button>
        )}
      </PageHeader>
      <div className="builder-columns">
        <div className="builder-form">
          <AppSheet
            {...{ draft, initialDraft, title, isInvalid, evaluationState, onInvalid: setIsInvalid }}
            overwrite={() => void save('overwrite')}
          />
          {entry !== undefined && <SaveBar {...{ draft, isInvalid }} save={() => void save()} tryIt={() => void tryIt()} />}
        </div>
        {isTesting && entry !== undefined && <TestChat {...{ id: stored?.id, entry, evaluationState }} onClose={closeTest} />}
      </div>
    </main>
  );
}

/**
 * Returns a ref to whether the editor is mounted. If the user leaves during a save, the end of the save must not navigate back.
 */
function useIsMounted(): RefObject<boolean> {
  const isMounted = useRef(false);
  useEffect(() => {
    isMounted.current = true;
    return () => {
      isMounted.current = false;
    };
  }, []);
  return isMounted;
}

/** Returns the name in the form, or else the stored name or a generic title. */
function useName(id: string, { entry, stored }: AppDraft): string {
  const { application } = useStrings();
  const { newTitle } = useBuilderStrings();
  const enteredName = typeof entry?.displayName === 'string' ? entry.displayName : '';
  return enteredName || (stored !== undefined ? getName(stored) : id === '' ? newTitle : application);
}

interface SaveBarProps {
  readonly draft: AppDraft;
  readonly isInvalid: boolean;
  readonly save: () => void;
  readonly tryIt: () => void;
}

/** Save and try actions. Their labels show whether saving affects other users. Trying a shared application does not save it. */
function SaveBar({ draft, isInvalid, save, tryIt }: SaveBarProps) {
  const { stored, isDirty, isTouched, isSaving, isRestored, load } = draft;
  const { go } = usePage();
  const strings = useBuilderStrings();
  const { askConfirmation, dialog } = useConfirmation();
  const hasUsers = isShared(stored);
  const discard = async (): Promise<void> => {
    if (!(await askConfirmation(strings.discardQuestion, strings.discardChanges))) return;
    if (stored !== undefined) load();
    else {
      draft.discard();
      go({ at: 'applications' });
    }
  };
  const isBlocked = isSaving || isInvalid;
  const cannotSave = isBlocked || !isDirty;
  return (
    <div className="builder-bar">
      <span className="soft small">
        {!isDirty ? strings.allSaved : isTouched && (hasUsers ? strings.unsavedShared : strings.unsaved)}
      </span>
      {isDirty && (stored !== undefined || isRestored) && (
        <TextButton onClick={() => void discard()}>{strings.discardChanges}</TextButton>
      )}
      {dialog}
      {/* Not `disabled`, because a disabled button would lose the focus when saving starts. */}
      <button type="button" className="button" aria-disabled={isBlocked} onClick={isBlocked ? undefined : tryIt}>
        {isDirty ? (hasUsers ? strings.tryShared : strings.saveAndTry) : strings.tryIt}
      </button>
      <button type="button" className="button primary" aria-disabled={cannotSave} onClick={cannotSave ? undefined : save}>
        {isSaving ? strings.saving : hasUsers ? strings.saveForAll : strings.save}
      </button>
    </div>
  );
}

/**
 * Asks before the user closes the tab with unsaved changes, or leaves the page with invalid text, which no draft contains.
 * Returns the dialog to render.
 */
function useLeaveGuard({ hasDraft, isInvalid }: { readonly hasDraft: boolean; readonly isInvalid: boolean }): ReactNode {
  const { leaveQuestion, leave } = useBuilderStrings();
  useEffect(() => {
    if (!hasDraft) return;
    const preventUnload = (event: BeforeUnloadEvent): void => event.preventDefault();
    addEventListener('beforeunload', preventUnload);
    return () => removeEventListener('beforeunload', preventUnload);
  }, [hasDraft]);
  return useLeaveQuestion(isInvalid, leaveQuestion, leave);
}

/** Calls `save` on Ctrl + S or ⌘ S. */
function useSaveKey(save: () => void): void {
  const latest = useRef(save);
  useEffect(() => {
    latest.current = save;
  });
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.key !== 's' || !(event.ctrlKey || event.metaKey) || event.altKey) return;
      event.preventDefault();
      latest.current();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
}
