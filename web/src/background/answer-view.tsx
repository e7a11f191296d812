import { ReplyBody, ReplyName } from '../chat/reply-body.tsx';
import { usePage } from '../page/page.tsx';
import { toHash } from '../page/place.ts';
import { CopyButton } from '../parts/copy-button.tsx';
import { Icon } from '../parts/icon.tsx';
import { Trouble } from '../parts/trouble.tsx';
import { useQuestion } from '../parts/use-question.tsx';
import type { BackgroundAnswers } from './background-answers.ts';
import { useBackgroundWords } from './background-words.ts';
import { textOf } from './fold-answer.ts';
import { StateMark } from './state-mark.tsx';
import { toConversation } from './to-conversation.ts';
import { type FollowedAnswer, useFollowedAnswer } from './use-followed-answer.ts';

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
