import { useCallback, useEffect, useMemo, useState } from 'react';
import type { JsonObject } from '#base/json/json.ts';
import { ReplyBody, ReplyName } from '../chat/turns/reply-body.tsx';
import { type Conversation, type Reply, withTurn } from '../conversation/conversation.ts';
import { CopyButton } from '../parts/copy-button.tsx';
import { ErrorMessage } from '../parts/error-message.tsx';
import { Icon, TextButton } from '../parts/icon.tsx';
import { useConfirmation } from '../parts/question-dialog.tsx';
import { type ErrorDetails, toErrorDetails } from '../service/service-error.ts';
import { usePage } from '../shell/page.tsx';
import { formatRoute } from '../shell/route.ts';
import { type ImportedMessage, toTurns } from '../transfer/imported-conversation.ts';
import { type AnswerDetails, type AnswerState, type BackgroundAnswers, isInProgress } from './background-answers.ts';
import { useBackgroundStrings } from './background-strings.ts';
import { AnswerFold, getText, toReply } from './fold-answer.ts';

interface AnswerViewProps {
  readonly answers: BackgroundAnswers;
  readonly id: string;
}

/** One answer with its input, updated live while it is in progress. */
export function AnswerView({ answers, id }: AnswerViewProps) {
  const strings = useBackgroundStrings();
  const followed = useFollowedAnswer(answers, id);
  const { input, answer, reply, error, isReconnecting } = followed;
  if (error?.code === 'response_not_found' || error?.code === 'route_not_found')
    return (
      <div className="sheet">
        <h1 className="visually-hidden">{strings.title}</h1>
        <p>{strings.notFound}</p>
        <BackLink />
      </div>
    );
  const question = input?.findLast(({ role }) => role === 'user');
  return (
    <div className="sheet answer-sheet" aria-busy={reply === undefined && error === undefined}>
      <h1 className="visually-hidden">{strings.title}</h1>
      <BackLink />
      <ErrorMessage error={error} />
      {typeof answer?.instructions === 'string' && answer.instructions !== '' && (
        <details className="thoughts">
          <summary>{strings.instructions}</summary>
          <p className="soft">{answer.instructions}</p>
        </details>
      )}
      {question !== undefined && <p className="answer-question">{getText(question) || strings.noQuestionText}</p>}
      {reply !== undefined && answer !== undefined && (
        <article className="reply" aria-busy={reply.state === 'running'}>
          <ReplyName reply={reply} />
          <ReplyBody reply={reply} isDeferred />
          <p className="answer-state">
            <StateMark status={answer.status} />
            {isReconnecting && <span className="soft small">{strings.reconnecting}</span>}
          </p>
          <ErrorMessage error={reply.fault} />
          <AnswerActions {...{ answers, followed }} />
        </article>
      )}
    </div>
  );
}

function BackLink() {
  const strings = useBackgroundStrings();
  return (
    <a className="quiet-link all-answers-link" href={formatRoute({ at: 'background' })}>
      <Icon name="left" />
      {strings.all}
    </a>
  );
}

/** Buttons that stop an answer in progress, continue a completed one in a chat, copy it, or delete it. */
function AnswerActions({ answers, followed }: { readonly answers: BackgroundAnswers; readonly followed: FollowedAnswer }) {
  const strings = useBackgroundStrings();
  const { library, go, announce } = usePage();
  const { askConfirmation, dialog } = useConfirmation();
  const { answer, reply, input = [], fail, update } = followed;
  if (answer === undefined || reply === undefined) return null;
  const { id } = answer;
  const isRunning = reply.state === 'running';
  const stop = (): void => {
    answers.cancel(id).then((stopped) => {
      update(stopped);
      announce(strings.stopped);
    }, fail);
  };
  const continueInConversation = (): void => {
    const conversation = toConversation({ answer, reply, input });
    library.put(conversation, 'now');
    go({ at: 'conversation', id: conversation.id });
  };
  const remove = async (): Promise<void> => {
    if (!(await askConfirmation(strings.removeQuestion, strings.remove))) return;
    await answers.remove(id).then(() => {
      announce(strings.removed);
      go({ at: 'background' });
    }, fail);
  };
  return (
    <div className="row">
      {isRunning ? (
        <TextButton onClick={stop}>{strings.stop}</TextButton>
      ) : (
        <TextButton className="button primary" onClick={continueInConversation}>
          {strings.continueInChat}
        </TextButton>
      )}
      {reply.text !== '' && <CopyButton text={() => reply.text} />}
      <TextButton onClick={() => void remove()}>{strings.remove}</TextButton>
      {dialog}
    </div>
  );
}

interface AnswerContext {
  readonly answer: AnswerDetails;
  readonly reply: Reply;
  /** Input items, the earliest first. */
  readonly input: readonly JsonObject[];
}

/** Builds a chat from the input and the answer. Consecutive messages of the same role become one turn. */
export function toConversation({ answer: { model, instructions }, reply, input }: AnswerContext): Conversation {
  const atMs = Date.now();
  const empty: Conversation = {
    ...{ id: crypto.randomUUID(), title: '', deployment: model, createdAtMs: atMs, updatedAtMs: atMs, turns: {}, shown: {} },
    ...(typeof instructions === 'string' && instructions !== '' && { settings: { instructions } }),
  };
  const turns = Object.values(toTurns(toMessages(input, model), atMs));
  const last = { ...reply, parent: turns.at(-1)?.id ?? '', atMs: atMs + turns.length };
  return [...turns, last].reduce(withTurn, empty);
}

/** Chains the messages from the first question on. If the last one is not a question, adds “…”, because the answer needs one. */
function toMessages(input: readonly JsonObject[], model: string): ReadonlyMap<string, ImportedMessage> {
  const all = input.filter(({ type = 'message', role }) => type === 'message' && (role === 'user' || role === 'assistant'));
  const first = all.findIndex(({ role }) => role === 'user');
  const messages = first < 0 ? [] : all.slice(first);
  const endsWithQuestion = messages.at(-1)?.role === 'user';
  const chain = new Map<string, ImportedMessage>();
  let parent = '';
  for (const message of endsWithQuestion ? messages : [...messages, { role: 'user', content: '…' }]) {
    const id = crypto.randomUUID();
    const kind = message.role === 'user' ? 'question' : 'reply';
    chain.set(id, { id, parent, kind, text: getText(message), atMs: undefined, model });
    parent = id;
  }
  return chain;
}

interface FollowedAnswer {
  readonly answer: AnswerDetails | undefined;
  readonly input: readonly JsonObject[] | undefined;
  /** The reply, or its part that was received so far. */
  readonly reply: Reply | undefined;
  readonly error: ErrorDetails | undefined;
  /** Whether the connection was lost and is being restored. */
  readonly isReconnecting: boolean;
  readonly fail: (error: unknown) => void;
  /** Replaces the displayed answer. */
  readonly update: (answer: AnswerDetails) => void;
}

/** Minimum time between two renderings of new events. */
const drawIntervalMs = 60;

/** Loads an answer with its input, and streams it while it is in progress. */
function useFollowedAnswer(answers: BackgroundAnswers, id: string): FollowedAnswer {
  const { announce } = usePage();
  const { ready } = useBackgroundStrings();
  const [answer, setAnswer] = useState<AnswerDetails>();
  const [input, setInput] = useState<readonly JsonObject[]>();
  const [items, setItems] = useState<readonly JsonObject[]>([]);
  const [error, setError] = useState<ErrorDetails>();
  const [isReconnecting, setIsReconnecting] = useState(false);
  const fail = useCallback((error: unknown) => setError(toErrorDetails(error)), []);
  useEffect(() => {
    const controller = new AbortController();
    const { signal } = controller;
    const follow = async (): Promise<void> => {
      const refresh = async (): Promise<AnswerDetails> => {
        const current = await answers.readAnswer(id, signal);
        setAnswer(current);
        return current;
      };
      answers.listInput(id, signal).then(setInput, () => undefined);
      if (!isInProgress(await refresh())) return;
      const fold = new AnswerFold();
      let drawing: ReturnType<typeof setTimeout> | undefined;
      const draw = (): void => {
        drawing = undefined;
        setIsReconnecting(false);
        setItems(fold.items);
      };
      signal.addEventListener('abort', () => clearTimeout(drawing));
      for await (const event of answers.follow(id, { signal, onDisconnect: () => setIsReconnecting(true) })) {
        fold.add(event);
        if (event.type === 'response.in_progress') await refresh();
        drawing ??= setTimeout(draw, drawIntervalMs);
      }
      if (!isInProgress(await refresh())) announce(ready);
    };
    follow().catch((error: unknown) => signal.aborted || fail(error));
    return () => controller.abort();
  }, [answers, id, fail, announce, ready]);
  const reply = useMemo(() => answer && toReply(answer, isInProgress(answer) ? items : answer.output), [answer, items]);
  return {
    answer,
    input,
    reply,
    error,
    isReconnecting: isReconnecting && answer !== undefined && isInProgress(answer),
    fail,
    update: setAnswer,
  };
}

export function StateMark({ status }: { readonly status: AnswerState }) {
  const { states } = useBackgroundStrings();
  return <span className={`state-mark ${status}`}>{states[status]}</span>;
}
