import { useEffect, useState } from 'react';
import { usePage } from '../page/page.tsx';
import { PageHeader } from '../parts/page-header.tsx';
import { useWords } from '../words/words.tsx';
import { AnswerList } from './answer-list.tsx';
import { AnswerView } from './answer-view.tsx';
import { BackgroundAnswers } from './background-answers.ts';
import { useBackgroundWords } from './background-words.ts';
import './background.css';

interface BackgroundPageProps {
  /** Undefined: all of them. */
  readonly id: string | undefined;
  readonly openMenu: () => void;
}

/** What is answered in the background for the user, also what a program elsewhere asked for. */
export function BackgroundPage({ id, openMenu }: BackgroundPageProps) {
  const words = useWords();
  const { title } = useBackgroundWords();
  const { service } = usePage();
  const [answers] = useState(() => new BackgroundAnswers(service));
  useEffect(() => {
    document.title = `${title} · ${words.product}`;
  }, [title, words]);
  return (
    <main className="content">
      <PageHeader openMenu={openMenu}>
        <span className="page-name">{title}</span>
      </PageHeader>
      {id === undefined ? <AnswerList answers={answers} /> : <AnswerView {...{ answers, id }} />}
    </main>
  );
}
