import { useCallback, useMemo, useState } from 'react';
import { Composer } from '../chat/composer.tsx';
import type { Said } from '../chat/said.ts';
import { Thread } from '../chat/thread.tsx';
import { useAnnouncements } from '../chat/use-announcements.ts';
import { type Conversation, shownTurns } from '../conversation/conversation.ts';
import { PageContext, useConversation, usePage } from '../page/page.tsx';
import { Icon } from '../parts/icon.tsx';
import { Trouble } from '../parts/trouble.tsx';
import type { Deployment } from '../service/deployments.ts';
import { type Fault, faultOf } from '../service/fault.ts';
import { useBuilderWords } from './builder-words.ts';
import { addCases } from './evaluations.ts';
import { toEvaluationCase } from './to-case.ts';
import { TracePanel } from './trace-panel.tsx';
import type { Evaluating } from './use-evaluations.ts';
import { useTestPage } from './use-test-page.ts';
import './test-chat.css';

interface TestChatProps {
  /** Of the application, as it is stored; undefined for one that was never saved. */
  readonly id: string | undefined;
  /** What is asked is what is stored: undefined where nothing has to be saved first. */
  readonly save: (() => void) | undefined;
  readonly evaluating: Evaluating;
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

function TestPanel({ id, save, evaluating, close }: TestChatProps) {
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
      {conversation !== undefined && id !== undefined && <KeepCase key={last?.id} {...{ conversation, id, evaluating }} />}
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
        <Composer {...{ deployment, say, running, conversationId }} draftOf={`test ${id ?? 'new'}`} />
      </div>
    </aside>
  );
}

interface KeepCaseProps {
  readonly conversation: Conversation;
  readonly id: string;
  readonly evaluating: Evaluating;
}

/** Makes a case of the last answer: what was asked, and that the same tools are called. */
function KeepCase({ conversation, id, evaluating: { act } }: KeepCaseProps) {
  const words = useBuilderWords();
  const { service, announce } = usePage();
  const [state, setState] = useState<'free' | 'busy' | 'kept'>('free');
  const [fault, setFault] = useState<Fault>();
  const asked = toEvaluationCase(conversation);
  if (asked === undefined) return null;
  const keep = async (): Promise<void> => {
    setState('busy');
    setFault(undefined);
    const isKept = await act(() => addCases(service, id, asked).catch(noteFault));
    setState(isKept ? 'kept' : 'free');
    if (isKept) announce(words.caseKept);
  };
  const noteFault = (thrown: unknown): never => {
    setFault(faultOf(thrown));
    throw thrown;
  };
  return (
    <div className="test-chat-case row small">
      <button type="button" className="button slim" disabled={state !== 'free'} onClick={() => void keep()}>
        {words.keepAsCase}
      </button>
      {state === 'kept' && <span className="soft">{words.caseKept}</span>}
      <Trouble fault={fault} />
    </div>
  );
}

function begin({ id }: Deployment): Conversation {
  const now = Date.now();
  return { id: crypto.randomUUID(), title: '', deployment: id, createdAtMs: now, updatedAtMs: now, turns: {}, shown: {} };
}
