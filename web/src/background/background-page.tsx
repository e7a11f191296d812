import { useCallback, useEffect, useState } from 'react';
import { ErrorMessage } from '../parts/error-message.tsx';
import { TextButton } from '../parts/icon.tsx';
import { NamedPage } from '../parts/named-page.tsx';
import { useLoaded } from '../parts/use-loaded.ts';
import { useGetName, usePage } from '../shell/page.tsx';
import { formatRoute } from '../shell/route.ts';
import { useLanguage } from '../strings/strings.tsx';
import { AnswerView, StateMark } from './answer-view.tsx';
import { BackgroundAnswers, isInProgress, type ListedAnswer } from './background-answers.ts';
import { useBackgroundStrings } from './background-strings.ts';
import './background.css';

interface BackgroundPageProps {
  /** ID of the open answer. If undefined, the list is open. */
  readonly id: string | undefined;
  readonly openMenu: () => void;
}

/** Background answers of the user, including answers that other programs requested. */
export function BackgroundPage({ id, openMenu }: BackgroundPageProps) {
  const { title } = useBackgroundStrings();
  const { service } = usePage();
  const [answers] = useState(() => new BackgroundAnswers(service));
  return (
    <NamedPage name={title} openMenu={openMenu}>
      {id === undefined ? <AnswerList answers={answers} /> : <AnswerView {...{ answers, id }} />}
    </NamedPage>
  );
}

const refreshMs = 3_000;
/** Number of answers that the list shows at first, and adds with each “Show more”. */
const answersAtATime = 20;

/** All answers, the latest first. The list refreshes while one is in progress. */
function AnswerList({ answers }: { readonly answers: BackgroundAnswers }) {
  const strings = useBackgroundStrings();
  const [count, setCount] = useState(answersAtATime);
  const load = useCallback((signal: AbortSignal) => answers.list(count, signal), [answers, count]);
  const { value: list, error, isLoading, reload } = useLoaded(load);
  const isAnyInProgress = list?.answers.some(isInProgress) === true;
  useEffect(() => {
    if (!isAnyInProgress) return;
    const timer = setInterval(() => document.hidden || reload(), refreshMs);
    return () => clearInterval(timer);
  }, [isAnyInProgress, reload]);
  const isSupported = error?.code !== 'route_not_found';
  return (
    <div className="sheet" aria-busy={isLoading && list === undefined}>
      <h1>{strings.title}</h1>
      {isSupported && <p className="soft">{strings.intro}</p>}
      {isSupported ? <ErrorMessage error={error} /> : <p className="soft">{strings.noStore}</p>}
      {list?.answers.length === 0 && <p className="soft">{strings.noAnswers}</p>}
      <ul className="answers">
        {list?.answers.map((answer) => (
          <AnswerItem key={answer.id} answer={answer} />
        ))}
      </ul>
      {list?.hasMore === true && (
        <TextButton onClick={() => setCount(list.answers.length + answersAtATime)}>{strings.showMore}</TextButton>
      )}
    </div>
  );
}

function AnswerItem({ answer: { id, status, model, created_at, asked: question } }: { readonly answer: ListedAnswer }) {
  const strings = useBackgroundStrings();
  const { locale } = useLanguage();
  const getName = useGetName();
  const time = new Date(created_at * 1000).toLocaleString(locale, { dateStyle: 'medium', timeStyle: 'short' });
  return (
    <li>
      <a className="answer-link" href={formatRoute({ at: 'background', id })}>
        <span className="answer-title">{question || strings.noQuestionText}</span>
        <span className="soft small">
          {getName(model)} · {time}
        </span>
        <StateMark status={status} />
      </a>
    </li>
  );
}
