import { useState } from 'react';
import { usePage } from '../page/page.tsx';
import { NamedPage } from '../parts/named-page.tsx';
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
  const { title } = useBackgroundWords();
  const { service } = usePage();
  const [answers] = useState(() => new BackgroundAnswers(service));
  return (
    <NamedPage name={title} openMenu={openMenu}>
      {id === undefined ? <AnswerList answers={answers} /> : <AnswerView {...{ answers, id }} />}
    </NamedPage>
  );
}
