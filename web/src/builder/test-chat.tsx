import { useCallback, useMemo, useState } from 'react';
import { Composer } from '../chat/composer.tsx';
import type { Said } from '../chat/said.ts';
import { Thread } from '../chat/thread.tsx';
import { useAnnouncements } from '../chat/use-announcements.ts';
import { type Conversation, shownTurns } from '../conversation/conversation.ts';
import { PageContext, useConversation, usePage } from '../page/page.tsx';
import { Icon } from '../parts/icon.tsx';
import type { Deployment } from '../service/deployments.ts';
import { useBuilderWords } from './builder-words.ts';
import { TracePanel } from './trace-panel.tsx';
import { useTestPage } from './use-test-page.ts';
import './test-chat.css';

interface TestChatProps {
  /** Of the application, as it is stored; undefined for one that was never saved. */
  readonly id: string | undefined;
  /** What is asked is what is stored: undefined where nothing has to be saved first. */
  readonly save: (() => void) | undefined;
  readonly close: () => void;
}

/** A chat with the application beside its form, which is kept nowhere, and how each answer came about. */
export function TestChat(props: TestChatProps) {
  return (
    <PageContext.Provider value={useTestPage()}>
      <TestPanel {...props} />
    </PageContext.Provider>
  );
}

function TestPanel({ id, save, close }: TestChatProps) {
  const words = useBuilderWords();
  const { library, asking, deployments } = usePage();
  const [conversationId, setConversationId] = useState('');
  const conversation = useConversation(conversationId);
  const turns = useMemo(() => (conversation === undefined ? [] : shownTurns(conversation)), [conversation]);
  const last = turns.at(-1);
  const running = last?.kind === 'reply' && last.state === 'running' ? last.id : undefined;
  useAnnouncements(last);
  const deployment = save === undefined ? deployments.find((each) => each.id === id) : undefined;
  const say = useCallback(
    (said: Said): void => {
      if (deployment === undefined) return;
      const target = conversation ?? begin(deployment);
      if (conversation === undefined) library.put(target);
      setConversationId(target.id);
      void asking.ask(target.id, { parent: shownTurns(target).at(-1)?.id ?? '', ...said });
    },
    [conversation, deployment, library, asking],
  );
  const startOver = (): void => {
    asking.stopAll();
    library.remove(conversationId);
    setConversationId('');
  };
  return (
    <aside className="test-chat" aria-label={words.testChat}>
      <header className="test-chat-head">
        <h1>{words.testChat}</h1>
        <button type="button" className="button slim" disabled={conversation === undefined} onClick={startOver}>
          {words.startOver}
        </button>
        <button type="button" className="icon-button" aria-label={words.closeTest} title={words.closeTest} onClick={close}>
          <Icon name="close" />
        </button>
      </header>
      {conversation === undefined ? (
        <p className="test-chat-hint soft">{words.testHint}</p>
      ) : (
        <Thread {...{ conversation, turns, say }} />
      )}
      <TracePanel turns={turns} />
      <div className="below">
        {save !== undefined && (
          <p className="row small soft">
            {words.saveToTest}
            <button type="button" className="button slim" onClick={save}>
              {words.save}
            </button>
          </p>
        )}
        <Composer {...{ deployment, say, running }} draftOf={`test ${id ?? 'new'}`} />
      </div>
    </aside>
  );
}

function begin({ id }: Deployment): Conversation {
  const now = Date.now();
  return { id: crypto.randomUUID(), title: '', deployment: id, createdAtMs: now, updatedAtMs: now, turns: {}, shown: {} };
}
