import { useCallback, useEffect, useState } from 'react';
import { useNameOf, usePage } from '../page/page.tsx';
import { NamedPage } from '../parts/named-page.tsx';
import { AnswerView } from './answer-view.tsx';
import { type AnswerPage, BackgroundAnswers, goesOn, type ListedAnswer } from './background-answers.ts';
import { useBackgroundWords } from './background-words.ts';
import './background.css';
import { toHash } from '../page/place.ts';
import { Trouble } from '../parts/trouble.tsx';
import { useLoaded } from '../parts/use-loaded.ts';
import { type Fault, faultOf } from '../service/fault.ts';
import { useLanguage } from '../words/words.tsx';
import { StateMark } from './state-mark.tsx';

interface BackgroundPageProps {
  /** Undefined: all of them. */
  readonly id: string | undefined;
  readonly openMenu: () => void;
}

/** What is answered in the background for the user, also what a program elsewhere asked for. */
export function BackgroundPage({ id, openMenu }: BackgroundPageProps) {
  const { title } = useBackgroundWords();
  const { service } = usePage();
  const [answers] = useState(() => new BackgroundAnswers(service));
  return (
    <NamedPage name={title} openMenu={openMenu}>
      {id === undefined ? <AnswerList answers={answers} /> : <AnswerView {...{ answers, id }} />}
    </NamedPage>
  );
}

const lookAgainMs = 3_000;

/** All of them, the latest first; looked at again while one goes on. */
function AnswerList({ answers }: { readonly answers: BackgroundAnswers }) {
  const words = useBackgroundWords();
  const load = useCallback((signal: AbortSignal) => answers.list(undefined, signal), [answers]);
  const { value, fault, isLoading, reload } = useLoaded(load);
  const [older, setOlder] = useState<readonly AnswerPage[]>([]);
  const [failed, setFailed] = useState<Fault>();
  const isGoingOn = value?.data.some(goesOn) === true;
  useEffect(() => {
    if (!isGoingOn) return;
    const timer = setInterval(() => document.hidden || reload(), lookAgainMs);
    return () => clearInterval(timer);
  }, [isGoingOn, reload]);
  const last = older.at(-1) ?? value;
  const addOlder = (): void => {
    answers.list(last?.last_id ?? undefined).then(
      (page) => setOlder((before) => [...before, page]),
      (thrown: unknown) => setFailed(faultOf(thrown)),
    );
  };
  const listed = new Map([value, ...older].flatMap((page) => page?.data ?? []).map((each) => [each.id, each]));
  const isKept = fault?.code !== 'route_not_found';
  return (
    <div className="sheet" aria-busy={isLoading && value === undefined}>
      <h1>{words.title}</h1>
      {isKept && <p className="soft">{words.intro}</p>}
      {isKept ? <Trouble fault={failed ?? fault} /> : <p className="soft">{words.noStore}</p>}
      {value?.data.length === 0 && <p className="soft">{words.none}</p>}
      <ul className="answers">
        {[...listed.values()].map((answer) => (
          <AnswerItem key={answer.id} answer={answer} />
        ))}
      </ul>
      {last?.has_more === true && (
        <button type="button" className="button" onClick={addOlder}>
          {words.more}
        </button>
      )}
    </div>
  );
}

function AnswerItem({ answer: { id, status, model, created_at, asked } }: { readonly answer: ListedAnswer }) {
  const words = useBackgroundWords();
  const { language } = useLanguage();
  const nameOf = useNameOf();
  const at = new Date(created_at * 1000).toLocaleString(language, { dateStyle: 'medium', timeStyle: 'short' });
  return (
    <li>
      <a className="answer-link" href={toHash({ at: 'background', id })}>
        <span className="answer-asked">{asked || words.nothingAsked}</span>
        <span className="soft small">
          {nameOf(model)} · {at}
        </span>
        <StateMark status={status} />
      </a>
    </li>
  );
}
