import { type ReactNode, useEffect, useMemo, useRef, useState } from 'react';
import { ChatPage } from '../chat/chat-page.tsx';
import { keepDraft, readDraft } from '../chat/composer/drafts.ts';
import { createForgetfulChat } from '../conversation/forgetful-chat.ts';
import { type Page, PageContext, usePage } from '../page/page.tsx';
import { nextFrame } from '../page/session.ts';
import { Icon } from '../parts/icon.tsx';
import './temporary.css';
import { useQuestion } from '../parts/question-dialog.tsx';
import { useWordsOf } from '../words/words.tsx';
import { type TemporaryWords, temporaryEnglish } from './temporary-english.ts';
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
  const words = useTemporaryWords();
  const { user } = usePage();
  const [id, setId] = useState<string>();
  const page = useTemporaryPage(setId);
  // What was written before this was chosen comes along, and stays nowhere either.
  const [firstText] = useState(() => readDraft(user, 'new'));
  useEffect(() => keepDraft(user, 'new', ''), [user]);
  const question = useLeaveQuestion(id !== undefined, words.leaveQuestion, words.leave);
  const strip = (
    <p className="temporary-strip small">
      <Icon name="hourglass" />
      {words.strip}
    </p>
  );
  return (
    <PageContext.Provider value={page}>
      {question}
      <ChatPage
        key={id ?? 'new'}
        {...{ id, openMenu }}
        preferred={deployment}
        lost={undefined}
        temporary={{ strip, leaveTitle: words.leaveTitle, firstText: id === undefined ? firstText : '' }}
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
    const reasons = (id: string): boolean => latest.current.some((each) => each.id === id && each.reasons);
    return createForgetfulChat({ service, nextFrame, reasons });
  }, [service]);
  useEffect(() => () => chat.asking.stopAll(), [chat]);
  return useMemo(() => {
    const go: Page['go'] = (place) => (place.at === 'conversation' ? show(place.id) : page.go(place));
    return { ...page, ...chat, go, isTemporary: true };
  }, [page, chat, show]);
}

/**
 * Asks before the place is left, by whatever leads away: a link, a key, the browser's way back. The address is put back first, and
 * followed once that was answered. Gives the question, which is to be drawn.
 */
function useLeaveQuestion(isOn: boolean, question: string, answer: string): ReactNode {
  const { hold } = usePage();
  const { ask, dialog } = useQuestion();
  useEffect(() => {
    if (!isOn) return;
    const here = location.hash;
    const keep = (event: BeforeUnloadEvent): void => event.preventDefault();
    addEventListener('beforeunload', keep);
    hold?.((wanted) => {
      history.pushState(history.state, '', here);
      void ask(question, answer).then((isYes) => {
        if (!isYes) return;
        hold(undefined);
        location.hash = wanted;
      });
      return true;
    });
    return () => {
      removeEventListener('beforeunload', keep);
      hold?.(undefined);
    };
  }, [isOn, question, answer, ask, hold]);
  return dialog;
}

/** What is said of a chat that is kept nowhere; apart from the other words, so that only who chooses one loads it. */
function useTemporaryWords(): TemporaryWords {
  return useWordsOf({ en: temporaryEnglish, de: temporaryGerman, fr: temporaryFrench, es: temporarySpanish });
}
