import { useCallback, useEffect, useId, useMemo, useRef, useState } from 'react';
import { filterStrings, isJsonObject, type JsonObject, toText, tryParseJson } from '#base/json/json.ts';
import type { Chunk } from '#contract/chat/chunk.ts';
import { Composer } from '../../chat/composer/composer.tsx';
import { Thread } from '../../chat/turns/thread.tsx';
import { useAnnouncements } from '../../chat/use-announcements.ts';
import { type Conversation, listVisibleTurns, type Turn, type UserMessage } from '../../conversation/conversation.ts';
import { createMemoryChat } from '../../conversation/memory-chat.ts';
import { toMessages } from '../../conversation/to-messages.ts';
import { CopyButton } from '../../parts/copy-button.tsx';
import { ErrorMessage } from '../../parts/error-message.tsx';
import { Icon, IconButton } from '../../parts/icon.tsx';
import { type Deployment, readBucket, toDeployment } from '../../service/deployments.ts';
import type { Service } from '../../service/service.ts';
import { type ErrorDetails, toErrorDetails } from '../../service/service-error.ts';
import { type ReplyRequest, streamChunks, toRequestBody } from '../../service/stream-reply.ts';
import { type Page, PageContext, useConversation, usePage } from '../../shell/page.tsx';
import { useStrings } from '../../strings/strings.tsx';
import { toPath } from '../applications.ts';
import { useBuilderStrings } from '../builder-strings.ts';
import { getValueAt } from '../entry-parts.ts';
import { addCases } from '../evaluation/evaluations.ts';
import type { EvaluationState } from '../evaluation/use-evaluations.ts';
import { computeTotalMs, readTrace, type TraceStep } from './read-trace.ts';
import { TraceStepView } from './trace-step.tsx';
import { useFormatters } from './use-formatters.ts';
import './test-chat.css';

interface TestChatProps {
  /** ID of the stored application. Undefined if it was never saved. */
  readonly id: string | undefined;
  /** The application as it is in the form, with unsaved changes. */
  readonly entry: JsonObject;
  readonly evaluationState: EvaluationState;
  readonly onClose: () => void;
}

/** A chat with the application next to its form. It is not stored, and it shows the trace of each answer. */
export function TestChat(props: TestChatProps) {
  const { id, entry } = props;
  // The chat keeps this ID when the first save assigns one, so that it continues.
  const [initialId] = useState(id);
  const name = toText(entry.displayName);
  const deployment = useTestDeployment(initialId, name, toText(entry.iconUrl));
  return (
    <PageContext.Provider value={useTestPage({ id, entry }, deployment)}>
      <TestPanel {...props} {...{ deployment, draftKey: `test ${initialId ?? 'new'}` }} />
    </PageContext.Provider>
  );
}

interface TestPanelProps extends TestChatProps {
  readonly deployment: Deployment;
  readonly draftKey: string;
}

function TestPanel({ id, entry, evaluationState, onClose, deployment, draftKey }: TestPanelProps) {
  const strings = useBuilderStrings();
  const { library, replyRunner } = usePage();
  const [conversationId, setConversationId] = useState('');
  const conversation = useConversation(conversationId);
  const turns = useMemo(() => (conversation === undefined ? [] : listVisibleTurns(conversation)), [conversation]);
  const last = turns.at(-1);
  const runningId = last?.kind === 'reply' && last.state === 'running' ? last.id : undefined;
  useAnnouncements(last);
  const send = useCallback(
    (message: UserMessage): void => {
      const target = conversation ?? createConversation(deployment);
      if (conversation === undefined) library.put(target);
      setConversationId(target.id);
      void replyRunner.sendQuestion(target.id, { parent: listVisibleTurns(target).at(-1)?.id ?? '', ...message });
    },
    [conversation, deployment, library, replyRunner],
  );
  const startOver = (): void => {
    replyRunner.stopAll();
    library.remove(conversationId);
    setConversationId('');
  };
  return (
    <aside className="test-chat" aria-label={strings.testChat}>
      <header className="test-chat-header">
        <h1>{strings.testChat}</h1>
        <button type="button" className="button slim" disabled={conversation === undefined} onClick={startOver}>
          {strings.startOver}
        </button>
        <IconButton icon="close" label={strings.closeTest} onClick={onClose} />
      </header>
      {conversation === undefined ? (
        <div className="test-chat-hint">
          <p className="soft">{strings.testHint}</p>
          <Starters {...{ entry, send }} />
        </div>
      ) : (
        <Thread {...{ conversation, turns, sendMessage: send }} />
      )}
      {conversation !== undefined && id !== undefined && <SaveCase key={last?.id} {...{ conversation, id, evaluationState }} />}
      <TracePanel turns={turns} />
      <div className="thread-footer">
        <Composer {...{ deployment, sendMessage: send, runningId, conversationId, draftKey }} />
      </div>
    </aside>
  );
}

function Starters({ entry, send }: { readonly entry: JsonObject; readonly send: (message: UserMessage) => void }) {
  const { starters: label, defaultStarter } = useStrings();
  const storedStarters = filterStrings(getValueAt(entry, ['applicationProperties', 'starters']));
  const texts = storedStarters.filter((starter) => starter !== '');
  const starters = texts.length > 0 ? [...new Set(texts)] : [defaultStarter];
  return (
    <ul className="starters" aria-label={label}>
      {starters.map((starter) => (
        <li key={starter}>
          <button type="button" className="starter" onClick={() => send({ text: starter, attachments: [] })}>
            {starter}
          </button>
        </li>
      ))}
    </ul>
  );
}

interface SaveCaseProps {
  readonly conversation: Conversation;
  readonly id: string;
  readonly evaluationState: EvaluationState;
}

/** Saves the last question as a case that expects the same tool calls. */
function SaveCase({ conversation, id, evaluationState: { runAction } }: SaveCaseProps) {
  const strings = useBuilderStrings();
  const { service, announce } = usePage();
  const [state, setState] = useState<'idle' | 'saving' | 'saved'>('idle');
  const [error, setError] = useState<ErrorDetails>();
  const evaluationCase = toEvaluationCase(conversation);
  if (evaluationCase === undefined) return null;
  const saveCase = async (): Promise<void> => {
    setState('saving');
    setError(undefined);
    const isStored = await runAction(() => addCases(service, id, evaluationCase).catch(reportError));
    setState(isStored ? 'saved' : 'idle');
    if (isStored) announce(strings.caseStored);
  };
  const reportError = (error: unknown): never => {
    setError(toErrorDetails(error));
    throw error;
  };
  return (
    <div className="test-chat-case row small">
      <button type="button" className="button slim" disabled={state !== 'idle'} onClick={() => void saveCase()}>
        {strings.saveAsCase}
      </button>
      {state === 'saved' && <span className="soft">{strings.caseStored}</span>}
      <ErrorMessage error={error} />
    </div>
  );
}

function createConversation({ id }: Deployment): Conversation {
  const nowMs = Date.now();
  return { id: crypto.randomUUID(), title: '', deployment: id, createdAtMs: nowMs, updatedAtMs: nowMs, turns: {}, shown: {} };
}

/** Converts the last answer to a case with its question and its tool calls. Returns undefined if there is no answer. */
function toEvaluationCase(conversation: Conversation): JsonObject | undefined {
  const turns = listVisibleTurns(conversation);
  const last = turns.at(-1);
  if (last?.kind !== 'reply' || last.state !== 'done') return undefined;
  const messages = toMessages(turns.slice(0, -1)).map(withoutState);
  const [first] = messages;
  const isPlain = messages.length === 1 && typeof first?.content === 'string' && first.custom_content === undefined;
  return { input: isPlain ? first?.content : messages, checks: buildToolChecks(last) };
}

/** Removes the state of earlier runs, which is valid only for one version. */
function withoutState(message: object): JsonObject {
  const { custom_content: custom, ...otherFields } = message as JsonObject;
  if (!isJsonObject(custom)) return otherFields;
  const { attachments } = custom;
  return attachments === undefined ? otherFields : { ...otherFields, custom_content: { attachments } };
}

function buildToolChecks(reply: Extract<Turn, { kind: 'reply' }>): readonly JsonObject[] {
  const toolSteps = readTrace(reply.custom).filter(({ kind }) => kind === 'tool');
  const calls = toolSteps.map(({ name, sent }) => toCheck(name, sent));
  const { name, arguments: sent = '' } = reply.functionCall ?? {};
  return name === undefined ? calls : [...calls, toCheck(name, sent)];
}

function toCheck(tool: string, sent: string): JsonObject {
  const args = tryParseJson(sent);
  return { type: 'calls', tool, ...(isJsonObject(args) && Object.keys(args).length > 0 && { arguments: args }) };
}

const drawIntervalMs = 50;

/** Returns the deployment of the application, or a temporary one with its name and icon if it was never saved. */
function useTestDeployment(id: string | undefined, name: string, icon: string): Deployment {
  const { deployments } = usePage();
  const saved = deployments.find((item) => item.id === id);
  const unsaved = useMemo(() => toDeployment({ id: 'unsaved', display_name: name, icon_url: icon }, 0, ''), [name, icon]);
  return saved ?? unsaved;
}

/** Returns the page context for a chat with the draft, which is not stored. */
function useTestPage(draft: Draft, deployment: Deployment): Page {
  const page = usePage();
  const { service } = page;
  const latest = useRef(draft);
  latest.current = draft;
  const chat = useMemo(() => {
    const nextFrame = (act: () => void): void => void setTimeout(act, drawIntervalMs);
    const stream = (request: ReplyRequest) => streamDraft(service, latest.current, request);
    return createMemoryChat({ service, stream, nextFrame });
  }, [service]);
  useEffect(() => () => chat.replyRunner.stopAll(), [chat]);
  return useMemo(() => {
    const deployments = page.deployments.includes(deployment) ? page.deployments : [...page.deployments, deployment];
    return { ...page, ...chat, deployments, isTest: true };
  }, [page, chat, deployment]);
}

/** An application with its unsaved changes. */
interface Draft {
  /** Undefined if the application was never saved. */
  readonly id: string | undefined;
  readonly entry: JsonObject;
}

/** Streams the chunks of a reply from an unsaved application, with a trace. Throws `ServiceError`. */
async function* streamDraft(service: Service, { id, entry }: Draft, request: ReplyRequest): AsyncGenerator<Chunk> {
  const path = `v1/drafts/${toPath(id ?? `applications/${await readBucket(service)}/unsaved`)}`;
  const body = { application: entry, request: toRequestBody(request) };
  yield* streamChunks(service, { path, body, headers: { 'x-parley-trace': 'true' }, signal: request.signal });
}

const maxAnswerChars = 60;

/** The trace of the selected answer, by default the last one. */
function TracePanel({ turns }: { readonly turns: readonly Turn[] }) {
  const strings = useBuilderStrings();
  const selectId = useId();
  const replies = turns.filter((turn) => turn.kind === 'reply');
  const [selectedId, setSelectedId] = useState('');
  const reply = replies.find(({ id }) => id === selectedId) ?? replies.at(-1);
  if (reply === undefined) return null;
  const steps = readTrace(reply.custom);
  const totalMs = computeTotalMs(steps);
  return (
    <details className="trace">
      <summary>
        <Icon name="right" />
        <h2>{strings.trace}</h2>
        <TraceSummary {...{ steps, totalMs }} />
      </summary>
      <div className="trace-body">
        {replies.length > 1 && (
          <div className="row small">
            <label htmlFor={selectId}>{strings.answerLabel}</label>
            <select id={selectId} value={reply.id} onChange={({ target }) => setSelectedId(target.value)}>
              {replies.map(({ id, text }, index) => (
                <option key={id} value={id}>
                  {strings.answerNumber(index + 1, text.slice(0, maxAnswerChars))}
                </option>
              ))}
            </select>
          </div>
        )}
        {steps.length === 0 && <p className="soft small">{reply.state === 'running' ? strings.traceLater : strings.noTrace}</p>}
        <ol aria-label={strings.trace}>
          {steps.map((step) => (
            <TraceStepView key={step.index} step={step} totalMs={totalMs} />
          ))}
        </ol>
        {steps.length > 0 && (
          <p className="row small soft">
            {strings.copyTrace}
            <CopyButton label={strings.copyTrace} text={() => JSON.stringify(reply.custom, undefined, 2)} />
          </p>
        )}
      </div>
    </details>
  );
}

/** Counts, time, and cost of all steps in one line. */
function TraceSummary({ steps, totalMs }: { readonly steps: readonly TraceStep[]; readonly totalMs: number }) {
  const strings = useBuilderStrings();
  const { stagesFailed } = useStrings();
  const { formatDuration, formatUsage } = useFormatters();
  if (steps.length === 0) return null;
  const turnCount = steps.filter(({ kind }) => kind === 'model').length;
  const toolCount = steps.filter(({ kind }) => kind === 'tool').length;
  const failedCount = steps.filter(({ hasFailed }) => hasFailed).length;
  const parts = [strings.turnCount(turnCount), strings.toolCount(toolCount), formatDuration(totalMs), ...formatUsage(steps)];
  return (
    <span className="soft small">
      {parts.filter((part) => part !== '').join(' · ')}
      {failedCount > 0 && <strong className="trace-failed"> · {stagesFailed(failedCount)}</strong>}
    </span>
  );
}
