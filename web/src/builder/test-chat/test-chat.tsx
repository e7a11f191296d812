import { useCallback, useEffect, useId, useMemo, useState } from 'react';
import { Composer } from '../../chat/composer/composer.tsx';
import type { Said } from '../../chat/said.ts';
import { Thread } from '../../chat/turns/thread.tsx';
import { useAnnouncements } from '../../chat/use-announcements.ts';
import { type Conversation, shownTurns, type Turn } from '../../conversation/conversation.ts';
import { type Page, PageContext, useConversation, usePage } from '../../page/page.tsx';
import { Icon } from '../../parts/icon.tsx';
import { Trouble } from '../../parts/trouble.tsx';
import type { Deployment } from '../../service/deployments.ts';
import { type Fault, faultOf } from '../../service/fault.ts';
import { addCases } from '../evaluation/evaluations.ts';
import type { Evaluating } from '../evaluation/use-evaluations.ts';
import { useBuilderWords } from '../words/builder-words.ts';
import './test-chat.css';
import { isJsonObject, type JsonObject, tryParseJson } from '#base/json/json.ts';
import { createForgetfulChat } from '../../conversation/forgetful-chat.ts';
import { toMessages } from '../../conversation/to-messages.ts';
import { CopyButton } from '../../parts/copy-button.tsx';
import { useWords } from '../../words/words.tsx';
import { isToolRun, readTrace, type TraceStep } from './read-trace.ts';
import { wholeOf } from './trace-span.ts';
import { TraceStepView } from './trace-step.tsx';
import { useAmounts } from './use-amounts.ts';
import './trace.css';

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

/** The last answer of a conversation as a case: what was asked, and that the same tools are called. Undefined as long as there is none. */
function toEvaluationCase(conversation: Conversation): JsonObject | undefined {
  const turns = shownTurns(conversation);
  const last = turns.at(-1);
  if (last?.kind !== 'reply' || last.state !== 'done') return undefined;
  const messages = toMessages(turns.slice(0, -1)).map(withoutState);
  const [first] = messages;
  const isPlain = messages.length === 1 && typeof first?.content === 'string' && first.custom_content === undefined;
  return { input: isPlain ? first?.content : messages, checks: toolChecks(last) };
}

/** What earlier runs remember holds for one version, and grows old. */
function withoutState(message: object): JsonObject {
  const { custom_content: custom, ...rest } = message as JsonObject;
  if (!isJsonObject(custom)) return rest;
  const { attachments } = custom;
  return attachments === undefined ? rest : { ...rest, custom_content: { attachments } };
}

function toolChecks(reply: Extract<Turn, { kind: 'reply' }>): readonly JsonObject[] {
  const ran = readTrace(reply.custom).filter(isToolRun);
  const calls = ran.map(({ name, sent }) => toCheck(name, sent));
  const { name, arguments: sent = '' } = reply.functionCall ?? {};
  return name === undefined ? calls : [...calls, toCheck(name, sent)];
}

function toCheck(tool: string, sent: string): JsonObject {
  const args = tryParseJson(sent);
  return { type: 'calls', tool, ...(isJsonObject(args) && Object.keys(args).length > 0 && { arguments: args }) };
}

/** What makes the service tell who may edit an application how it works (docs/quick-apps.md). */
const headers = { 'x-parley-trace': 'true' };
const drawnEveryMs = 50;

/** The page for a chat that nobody keeps, and whose answers tell how they came about. */
function useTestPage(): Page {
  const page = usePage();
  const { service } = page;
  const chat = useMemo(() => {
    const nextFrame = (act: () => void): void => void setTimeout(act, drawnEveryMs);
    return createForgetfulChat({ service, headers, nextFrame });
  }, [service]);
  useEffect(() => () => chat.asking.stopAll(), [chat]);
  return useMemo(() => ({ ...page, ...chat, isTest: true }), [page, chat]);
}

const longestAnswerChars = 60;

/** How an answer of the chat came about: the last one, or the one that is chosen. */
function TracePanel({ turns }: { readonly turns: readonly Turn[] }) {
  const words = useBuilderWords();
  const picker = useId();
  const replies = turns.filter((turn) => turn.kind === 'reply');
  const [chosen, setChosen] = useState('');
  const reply = replies.find(({ id }) => id === chosen) ?? replies.at(-1);
  if (reply === undefined) return null;
  const steps = readTrace(reply.custom);
  const wholeMs = wholeOf(steps);
  return (
    <details className="trace" open>
      <summary>
        <Icon name="right" />
        <h2>{words.trace}</h2>
        <TraceSum {...{ steps, wholeMs }} />
      </summary>
      <div className="trace-body">
        {replies.length > 1 && (
          <div className="row small">
            <label htmlFor={picker}>{words.traceOf}</label>
            <select id={picker} value={reply.id} onChange={({ target }) => setChosen(target.value)}>
              {replies.map(({ id, text }, nth) => (
                <option key={id} value={id}>
                  {words.answerNumber(nth + 1, text.slice(0, longestAnswerChars))}
                </option>
              ))}
            </select>
          </div>
        )}
        {steps.length === 0 && <p className="soft small">{reply.state === 'running' ? words.traceToCome : words.noTrace}</p>}
        <ol aria-label={words.trace}>
          {steps.map((step) => (
            <TraceStepView key={step.index} step={step} wholeMs={wholeMs} />
          ))}
        </ol>
        {steps.length > 0 && (
          <p className="row small soft">
            {words.copyTrace}
            <CopyButton label={words.copyTrace} text={() => JSON.stringify(reply.custom, undefined, 2)} />
          </p>
        )}
      </div>
    </details>
  );
}

interface TraceSumProps {
  readonly steps: readonly TraceStep[];
  readonly wholeMs: number;
}

/** The whole in a line. */
function TraceSum({ steps, wholeMs }: TraceSumProps) {
  const words = useBuilderWords();
  const { stagesFailed } = useWords();
  const amounts = useAmounts();
  if (steps.length === 0) return null;
  const turns = steps.filter(({ isModel }) => isModel).length;
  const tools = steps.filter(isToolRun).length;
  const failed = steps.filter(({ hasFailed }) => hasFailed).length;
  const parts = [words.turnCount(turns), words.toolCount(tools), amounts.time(wholeMs), ...amounts.used(steps)];
  return (
    <span className="soft small">
      {parts.filter((part) => part !== '').join(' · ')}
      {failed > 0 && <strong className="trace-failed"> · {stagesFailed(failed)}</strong>}
    </span>
  );
}
