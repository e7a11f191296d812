import { useCallback, useEffect, useState } from 'react';
import { useGetName, usePage } from '../page/page.tsx';
import { TextButton } from '../parts/icon.tsx';
import { NamedPage } from '../parts/named-page.tsx';
import { AnswerView, StateMark } from './answer-view.tsx';
import { type AnswerPage, BackgroundAnswers, isInProgress, type ListedAnswer } from './background-answers.ts';
import { useBackgroundStrings } from './background-strings.ts';
import './background.css';
import { formatRoute } from '../page/route.ts';
import { ErrorMessage } from '../parts/error-message.tsx';
import { useLoaded } from '../parts/use-loaded.ts';
import { type ErrorDetails, toErrorDetails } from '../service/service-error.ts';
import { useLanguage } from '../strings/strings.tsx';

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

/** All answers, the latest first. The list refreshes while one is in progress. */
function AnswerList({ answers }: { readonly answers: BackgroundAnswers }) {
  const strings = useBackgroundStrings();
  const load = useCallback((signal: AbortSignal) => answers.list(undefined, signal), [answers]);
  const { value, error, isLoading, reload } = useLoaded(load);
  const [older, setOlder] = useState<readonly AnswerPage[]>([]);
  const [loadMoreError, setLoadMoreError] = useState<ErrorDetails>();
  const isAnyInProgress = value?.data.some(isInProgress) === true;
  useEffect(() => {
    if (!isAnyInProgress) return;
    const timer = setInterval(() => document.hidden || reload(), refreshMs);
    return () => clearInterval(timer);
  }, [isAnyInProgress, reload]);
  const last = older.at(-1) ?? value;
  const addOlder = (): void => {
    answers.list(last?.last_id ?? undefined).then(
      (page) => setOlder((before) => [...before, page]),
      (error: unknown) => setLoadMoreError(toErrorDetails(error)),
    );
  };
  const answersById = new Map([value, ...older].flatMap((page) => page?.data ?? []).map((item) => [item.id, item]));
  const isSupported = error?.code !== 'route_not_found';
  return (
    <div className="sheet" aria-busy={isLoading && value === undefined}>
      <h1>{strings.title}</h1>
      {isSupported && <p className="soft">{strings.intro}</p>}
      {isSupported ? <ErrorMessage error={loadMoreError ?? error} /> : <p className="soft">{strings.noStore}</p>}
      {value?.data.length === 0 && <p className="soft">{strings.noAnswers}</p>}
      <ul className="answers">
        {[...answersById.values()].map((answer) => (
          <AnswerItem key={answer.id} answer={answer} />
        ))}
      </ul>
      {last?.has_more === true && <TextButton onClick={addOlder}>{strings.showMore}</TextButton>}
    </div>
  );
}

function AnswerItem({ answer: { id, status, model, created_at, asked: question } }: { readonly answer: ListedAnswer }) {
  const strings = useBackgroundStrings();
  const { locale: language } = useLanguage();
  const getName = useGetName();
  const time = new Date(created_at * 1000).toLocaleString(language, { dateStyle: 'medium', timeStyle: 'short' });
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
