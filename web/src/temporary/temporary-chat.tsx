import { useEffect, useMemo, useRef, useState } from 'react';
import { ChatPage } from '../chat/chat-page.tsx';
import { readDraft, saveDraft } from '../chat/composer/drafts.ts';
import { createMemoryChat } from '../conversation/memory-chat.ts';
import { Icon } from '../parts/icon.tsx';
import { type Page, PageContext, usePage } from '../shell/page.tsx';
import { nextFrame } from '../shell/session.ts';
import './temporary.css';
import { temporaryGerman } from '../locales/de/temporary.ts';
import { type TemporaryStrings, temporaryEnglish } from '../locales/en/temporary.ts';
import { temporarySpanish } from '../locales/es/temporary.ts';
import { temporaryFrench } from '../locales/fr/temporary.ts';
import { useLeaveQuestion } from '../parts/use-leave-question.tsx';
import { useLocalizedStrings, useStrings } from '../strings/strings.tsx';

interface TemporaryChatProps {
  /** Initial deployment. */
  readonly deployment: string | undefined;
  readonly openMenu: () => void;
}

/** A chat that is not stored. It exists in memory while the page shows it. */
export function TemporaryChat({ deployment, openMenu }: TemporaryChatProps) {
  const strings = useTemporaryStrings();
  const { temporaryChat } = useStrings();
  const { user } = usePage();
  const [id, setId] = useState<string>();
  const page = useTemporaryPage(setId);
  // The chat takes over the text that was entered before, and its stored draft is deleted.
  const [initialText] = useState(() => readDraft(user, 'new'));
  useEffect(() => saveDraft(user, 'new', ''), [user]);
  const question = useLeaveQuestion(id !== undefined, strings.leaveQuestion, strings.confirmLeave);
  const banner = (
    <p className="temporary-banner small">
      <Icon name="hourglass" />
      <span>
        <strong>{temporaryChat}.</strong> {strings.banner}
      </span>
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
        temporary={{ banner, leaveTitle: strings.leaveTitle, initialText: id === undefined ? initialText : '' }}
      />
    </PageContext.Provider>
  );
}

/** Excludes the content of calls from the records of administrators. */
const unrecorded = { 'x-parley-record-content': 'false' };

/** Returns the page context without storage. A started chat is shown here and has no address. */
function useTemporaryPage(show: (id: string) => void): Page {
  const page = usePage();
  const { deployments } = page;
  const service = useMemo(() => page.service.withHeaders(unrecorded), [page.service]);
  const latest = useRef(deployments);
  useEffect(() => {
    latest.current = deployments;
  }, [deployments]);
  const chat = useMemo(() => {
    const findDeployment = (id: string) => latest.current.find((item) => item.id === id);
    return createMemoryChat({ service, nextFrame, findDeployment });
  }, [service]);
  useEffect(() => () => chat.replyRunner.stopAll(), [chat]);
  return useMemo(() => {
    const go: Page['go'] = (route) => (route.at === 'conversation' ? show(route.id) : page.go(route));
    return { ...page, ...chat, service, go, isTemporary: true };
  }, [page, chat, service, show]);
}

/** Texts of temporary chats, in a separate chunk that only temporary chats load. */
function useTemporaryStrings(): TemporaryStrings {
  return useLocalizedStrings({ en: temporaryEnglish, de: temporaryGerman, fr: temporaryFrench, es: temporarySpanish });
}
