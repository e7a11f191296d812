import { type ReactNode, useEffect, useRef, useState } from 'react';
import { usePage } from '../page/page.tsx';
import { toHash } from '../page/place.ts';
import { Icon } from '../parts/icon.tsx';
import { PageHeader, useTitle } from '../parts/named-page.tsx';
import { useQuestion } from '../parts/question-dialog.tsx';
import { AppSheet } from './app-sheet.tsx';
import { nameOf } from './applications.ts';
import type { Beginning } from './beginning.ts';
import { useEvaluations } from './evaluation/use-evaluations.ts';
import { TestChat } from './test-chat/test-chat.tsx';
import { type AppDraft, useAppDraft } from './use-app-draft.ts';
import { useBuilderWords } from './words/builder-words.ts';

interface AppEditorProps {
  /** '' for one that is yet to be saved. */
  readonly id: string;
  readonly beginning: Beginning | undefined;
  readonly openMenu: () => void;
  readonly noteMade: (id: string) => void;
}

/** One application: its sheet, the ways to save and to try it, and beside it a chat to test it. */
export function AppEditor({ id, beginning, openMenu, noteMade }: AppEditorProps) {
  const words = useBuilderWords();
  const { go, announce } = usePage();
  const draft = useAppDraft(id, beginning);
  const { entry, stored, isDirty } = draft;
  const [isBroken, setIsBroken] = useState(false);
  const [isTesting, setIsTesting] = useState(false);
  const title = useName(draft);
  useTitle(title);
  const evaluating = useEvaluations(stored);

  const save = async (over?: 'over'): Promise<string | undefined> => {
    if (isBroken) return undefined;
    const saved = await draft.save(over);
    if (saved === undefined) return undefined;
    announce(words.saved);
    if (id === '') noteMade(saved.id);
    return saved.id;
  };
  const tryIt = async (): Promise<void> => {
    const saved = isDirty ? await save() : stored?.id;
    if (saved !== undefined) go({ at: 'new', deployment: saved });
  };
  useSaveKey(() => void save());
  const leaveQuestion = useLeaveGuard(draft.isTouched && !draft.isSaving, words.leaveQuestion, words.leave);
  return (
    <main className="content">
      {leaveQuestion}
      <PageHeader openMenu={openMenu}>
        <a className="quiet-link builder-back" href={toHash({ at: 'applications' })}>
          <Icon name="left" />
          {words.back}
        </a>
        <button type="button" className="button slim" aria-pressed={isTesting} onClick={() => setIsTesting(!isTesting)}>
          {words.testChat}
        </button>
      </PageHeader>
      <div className="builder-desk">
        <div className="builder-form">
          <AppSheet
            {...{ draft, beginning, title, isBroken, evaluating, noteBroken: setIsBroken }}
            saveOver={() => void save('over')}
          />
          {entry !== undefined && <SaveBar {...{ draft, isBroken }} save={() => void save()} tryIt={() => void tryIt()} />}
        </div>
        {isTesting && (
          <TestChat
            id={stored?.id}
            evaluating={evaluating}
            save={isDirty ? () => void save() : undefined}
            close={() => setIsTesting(false)}
          />
        )}
      </div>
    </main>
  );
}

/** What the application is called, as it stands in the form. */
function useName({ entry, stored }: AppDraft): string {
  const { newTitle } = useBuilderWords();
  const written = typeof entry?.displayName === 'string' ? entry.displayName : '';
  return written || (stored === undefined ? newTitle : nameOf(stored));
}

interface SaveBarProps {
  readonly draft: AppDraft;
  readonly isBroken: boolean;
  readonly save: () => void;
  readonly tryIt: () => void;
}

function SaveBar({ draft: { isDirty, isSaving }, isBroken, save, tryIt }: SaveBarProps) {
  const builderWords = useBuilderWords();
  const isIdle = isSaving || isBroken;
  const cannotSave = isIdle || !isDirty;
  return (
    <div className="builder-bar">
      <span className="soft small">{isDirty ? builderWords.unsaved : builderWords.allSaved}</span>
      {/* Not `disabled`: whoever saves would lose the focus. */}
      <button type="button" className="button" aria-disabled={isIdle} onClick={isIdle ? undefined : tryIt}>
        {builderWords.tryIt}
      </button>
      <button type="button" className="button primary" aria-disabled={cannotSave} onClick={cannotSave ? undefined : save}>
        {isSaving ? builderWords.saving : builderWords.save}
      </button>
    </div>
  );
}

/** Asks before the page, or this part of it, is left with what is not saved. Gives the question, which is to be drawn. */
function useLeaveGuard(isOn: boolean, question: string, answer: string): ReactNode {
  const { ask: askUser, dialog } = useQuestion();
  useEffect(() => {
    if (!isOn) return;
    const keep = (event: BeforeUnloadEvent): void => event.preventDefault();
    const ask = (event: MouseEvent): void => {
      const link = event.target instanceof Element ? event.target.closest('a[href^="#"]') : null;
      if (!(link instanceof HTMLAnchorElement) || link.hash === location.hash) return;
      event.preventDefault();
      event.stopPropagation();
      void askUser(question, answer).then((isYes) => {
        if (isYes) location.hash = link.hash;
      });
    };
    addEventListener('beforeunload', keep);
    document.addEventListener('click', ask, { capture: true });
    return () => {
      removeEventListener('beforeunload', keep);
      document.removeEventListener('click', ask, { capture: true });
    };
  }, [isOn, question, answer, askUser]);
  return dialog;
}

/** Ctrl + S, or ⌘ S. */
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
