import { useCallback, useEffect, useMemo, useState } from 'react';
import type { JsonObject } from '#base/json/json.ts';
import { ReplyBody, ReplyName } from '../chat/turns/reply-body.tsx';
import { type Conversation, type Reply, withTurn } from '../conversation/conversation.ts';
import { usePage } from '../page/page.tsx';
import { toHash } from '../page/place.ts';
import { CopyButton } from '../parts/copy-button.tsx';
import { Icon } from '../parts/icon.tsx';
import { useQuestion } from '../parts/question-dialog.tsx';
import { Trouble } from '../parts/trouble.tsx';
import { type Fault, faultOf } from '../service/fault.ts';
import { type Said, toTurns } from '../transfer/imported.ts';
import { type BackgroundAnswers, goesOn, type ShownAnswer } from './background-answers.ts';
import { useBackgroundWords } from './background-words.ts';
import { AnswerFold, textOf, toReply } from './fold-answer.ts';
import { StateMark } from './state-mark.tsx';

interface AnswerViewProps {
  readonly answers: BackgroundAnswers;
  readonly id: string;
}

/** One answer, live while it goes on, with what it was asked. */
export function AnswerView({ answers, id }: AnswerViewProps) {
  const words = useBackgroundWords();
  const followed = useFollowedAnswer(answers, id);
  const { input, answer, reply, fault, isLost } = followed;
  if (fault?.code === 'response_not_found' || fault?.code === 'route_not_found')
    return (
      <div className="sheet">
        <h1 className="heard-only">{words.title}</h1>
        <p>{words.gone}</p>
        <WayBack />
      </div>
    );
  const question = input?.findLast(({ role }) => role === 'user');
  return (
    <div className="sheet answer-sheet" aria-busy={reply === undefined && fault === undefined}>
      <h1 className="heard-only">{words.title}</h1>
      <WayBack />
      <Trouble fault={fault} />
      {typeof answer?.instructions === 'string' && answer.instructions !== '' && (
        <details className="thoughts">
          <summary>{words.instructions}</summary>
          <p className="soft">{answer.instructions}</p>
        </details>
      )}
      {question !== undefined && <p className="answer-question">{textOf(question) || words.nothingAsked}</p>}
      {reply !== undefined && answer !== undefined && (
        <article className="reply" aria-busy={reply.state === 'running'}>
          <ReplyName reply={reply} />
          <ReplyBody reply={reply} isLate />
          <p className="answer-state">
            <StateMark status={answer.status} />
            {isLost && <span className="soft small">{words.again}</span>}
          </p>
          <Trouble fault={reply.fault} />
          <AnswerActs {...{ answers, followed }} />
        </article>
      )}
    </div>
  );
}

function WayBack() {
  const words = useBackgroundWords();
  return (
    <a className="quiet-link way-back" href={toHash({ at: 'background' })}>
      <Icon name="left" />
      {words.all}
    </a>
  );
}

/** What can be done with it: stopped while it goes on, else taken along or deleted. */
function AnswerActs({ answers, followed }: { readonly answers: BackgroundAnswers; readonly followed: FollowedAnswer }) {
  const words = useBackgroundWords();
  const { library, go, announce } = usePage();
  const { ask, dialog } = useQuestion();
  const { answer, reply, input = [], fail, take } = followed;
  if (answer === undefined || reply === undefined) return null;
  const { id } = answer;
  const isRunning = reply.state === 'running';
  const stop = (): void => {
    answers.cancel(id).then((stopped) => {
      take(stopped);
      announce(words.stopped);
    }, fail);
  };
  const goOn = (): void => {
    const conversation = toConversation({ answer, reply, input });
    library.put(conversation, 'now');
    go({ at: 'conversation', id: conversation.id });
  };
  const remove = async (): Promise<void> => {
    if (!(await ask(words.removeQuestion, words.remove))) return;
    await answers.remove(id).then(() => {
      announce(words.removed);
      go({ at: 'background' });
    }, fail);
  };
  return (
    <div className="row">
      {isRunning ? (
        <button type="button" className="button" onClick={stop}>
          {words.stop}
        </button>
      ) : (
        <button type="button" className="button primary" onClick={goOn}>
          {words.goOn}
        </button>
      )}
      {reply.text !== '' && <CopyButton text={() => reply.text} />}
      <button type="button" className="button" onClick={() => void remove()}>
        {words.remove}
      </button>
      {dialog}
    </div>
  );
}

interface Answered {
  readonly answer: ShownAnswer;
  readonly reply: Reply;
  /** Items it was asked with, the earliest first. */
  readonly input: readonly JsonObject[];
}

/** A conversation of what was said before an answer, and the answer; what one side says in a row is one turn. */
export function toConversation({ answer: { model, instructions }, reply, input }: Answered): Conversation {
  const atMs = Date.now();
  const empty: Conversation = {
    ...{ id: crypto.randomUUID(), title: '', deployment: model, createdAtMs: atMs, updatedAtMs: atMs, turns: {}, shown: {} },
    ...(typeof instructions === 'string' && instructions !== '' && { settings: { instructions } }),
  };
  const turns = Object.values(toTurns(toSaid(input, model), atMs));
  const last = { ...reply, parent: turns.at(-1)?.id ?? '', atMs: atMs + turns.length };
  return [...turns, last].reduce(withTurn, empty);
}

/** What users and models said, one behind the other: from the first question to one that is answered. */
function toSaid(input: readonly JsonObject[], model: string): ReadonlyMap<string, Said> {
  const all = input.filter(({ type = 'message', role }) => type === 'message' && (role === 'user' || role === 'assistant'));
  const first = all.findIndex(({ role }) => role === 'user');
  const messages = first < 0 ? [] : all.slice(first);
  const isAsked = messages.at(-1)?.role === 'user';
  const chain = new Map<string, Said>();
  let parent = '';
  for (const message of isAsked ? messages : [...messages, { role: 'user', content: '…' }]) {
    const id = crypto.randomUUID();
    const kind = message.role === 'user' ? 'question' : 'reply';
    chain.set(id, { id, parent, kind, text: textOf(message), atMs: undefined, model });
    parent = id;
  }
  return chain;
}

interface FollowedAnswer {
  readonly answer: ShownAnswer | undefined;
  /** Items it was asked with. */
  readonly input: readonly JsonObject[] | undefined;
  /** What is said so far. */
  readonly reply: Reply | undefined;
  readonly fault: Fault | undefined;
  /** Whether the connection broke off and is taken up again. */
  readonly isLost: boolean;
  readonly fail: (thrown: unknown) => void;
  /** Shows it as it is from now on. */
  readonly take: (answer: ShownAnswer) => void;
}

/** How often what comes is drawn. */
const drawMs = 60;

/** An answer and what it was asked, as they are, and as they come while it goes on. */
function useFollowedAnswer(answers: BackgroundAnswers, id: string): FollowedAnswer {
  const { announce } = usePage();
  const { ended } = useBackgroundWords();
  const [answer, setAnswer] = useState<ShownAnswer>();
  const [input, setInput] = useState<readonly JsonObject[]>();
  const [items, setItems] = useState<readonly JsonObject[]>([]);
  const [fault, setFault] = useState<Fault>();
  const [isLost, setIsLost] = useState(false);
  const fail = useCallback((thrown: unknown) => setFault(faultOf(thrown)), []);
  useEffect(() => {
    const leaving = new AbortController();
    const { signal } = leaving;
    const follow = async (): Promise<void> => {
      const read = async (): Promise<ShownAnswer> => {
        const shown = await answers.read(id, signal);
        setAnswer(shown);
        return shown;
      };
      answers.input(id, signal).then(setInput, () => undefined);
      if (!goesOn(await read())) return;
      const fold = new AnswerFold();
      let drawing: ReturnType<typeof setTimeout> | undefined;
      const draw = (): void => {
        drawing = undefined;
        setIsLost(false);
        setItems(fold.items);
      };
      signal.addEventListener('abort', () => clearTimeout(drawing));
      for await (const event of answers.follow(id, { signal, onLost: () => setIsLost(true) })) {
        fold.add(event);
        if (event.type === 'response.in_progress') await read();
        drawing ??= setTimeout(draw, drawMs);
      }
      if (!goesOn(await read())) announce(ended);
    };
    follow().catch((thrown: unknown) => signal.aborted || fail(thrown));
    return () => leaving.abort();
  }, [answers, id, fail, announce, ended]);
  const reply = useMemo(() => answer && toReply(answer, goesOn(answer) ? items : answer.output), [answer, items]);
  return { answer, input, reply, fault, isLost: isLost && answer !== undefined && goesOn(answer), fail, take: setAnswer };
}
