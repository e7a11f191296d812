import { type ReactNode, useEffect, useMemo, useRef, useState } from 'react';
import { ChatPage } from '../chat/chat-page.tsx';
import { readDraft, saveDraft } from '../chat/composer/drafts.ts';
import { createMemoryChat } from '../conversation/memory-chat.ts';
import { type Page, PageContext, usePage } from '../page/page.tsx';
import { nextFrame } from '../page/session.ts';
import { Icon } from '../parts/icon.tsx';
import './temporary.css';
import { useConfirmation } from '../parts/question-dialog.tsx';
import { useLocalizedStrings } from '../strings/strings.tsx';
import { type TemporaryStrings, temporaryEnglish } from './temporary-english.ts';
import { temporaryFrench } from './temporary-french.ts';
import { temporaryGerman } from './temporary-german.ts';
import { temporarySpanish } from './temporary-spanish.ts';

interface TemporaryChatProps {
  /** The deployment that it is to begin with. */
  readonly deployment: string | undefined;
  readonly openMenu: () => void;
}

/** A conversation that is kept nowhere: it lives in memory, for as long as it is shown. */
export function TemporaryChat({ deployment, openMenu }: TemporaryChatProps) {
  const strings = useTemporaryStrings();
  const { user } = usePage();
  const [id, setId] = useState<string>();
  const page = useTemporaryPage(setId);
  // What was written before this was chosen comes along, and stays nowhere either.
  const [firstText] = useState(() => readDraft(user, 'new'));
  useEffect(() => saveDraft(user, 'new', ''), [user]);
  const question = useLeaveQuestion(id !== undefined, strings.leaveQuestion, strings.confirmLeave);
  const strip = (
    <p className="temporary-strip small">
      <Icon name="hourglass" />
      {strings.strip}
    </p>
  );
  return (
    <PageContext.Provider value={page}>
      {question}
      <ChatPage
        key={id ?? 'new'}
        {...{ id, openMenu }}
        preferred={deployment}
        missingTarget={undefined}
        temporary={{ strip, leaveTitle: strings.leaveTitle, firstText: id === undefined ? firstText : '' }}
      />
    </PageContext.Provider>
  );
}

/** The page, with nothing to keep; a conversation that begins is shown here, at no address of its own. */
function useTemporaryPage(show: (id: string) => void): Page {
  const page = usePage();
  const { service, deployments } = page;
  const latest = useRef(deployments);
  useEffect(() => {
    latest.current = deployments;
  }, [deployments]);
  const chat = useMemo(() => {
    const canReason = (id: string): boolean => latest.current.some((item) => item.id === id && item.reasons);
    return createMemoryChat({ service, nextFrame, canReason });
  }, [service]);
  useEffect(() => () => chat.replyRunner.stopAll(), [chat]);
  return useMemo(() => {
    const go: Page['go'] = (route) => (route.at === 'conversation' ? show(route.id) : page.go(route));
    return { ...page, ...chat, go, isTemporary: true };
  }, [page, chat, show]);
}

/**
 * Asks before the place is left, by whatever leads away: a link, a key, the browser's way back. The address is put back first, and
 * followed once that was answered. Gives the question, which is to be drawn.
 */
function useLeaveQuestion(isOn: boolean, question: string, answer: string): ReactNode {
  const { blockNavigation: hold } = usePage();
  const { askConfirmation, dialog } = useConfirmation();
  useEffect(() => {
    if (!isOn) return;
    const here = location.hash;
    const preventUnload = (event: BeforeUnloadEvent): void => event.preventDefault();
    addEventListener('beforeunload', preventUnload);
    hold?.((targetHash) => {
      history.pushState(history.state, '', here);
      void askConfirmation(question, answer).then((isConfirmed) => {
        if (!isConfirmed) return;
        hold(undefined);
        location.hash = targetHash;
      });
      return true;
    });
    return () => {
      removeEventListener('beforeunload', preventUnload);
      hold?.(undefined);
    };
  }, [isOn, question, answer, askConfirmation, hold]);
  return dialog;
}

/** What is said of a chat that is kept nowhere; apart from the other words, so that only who chooses one loads it. */
function useTemporaryStrings(): TemporaryStrings {
  return useLocalizedStrings({ en: temporaryEnglish, de: temporaryGerman, fr: temporaryFrench, es: temporarySpanish });
}
