import { useState } from 'react';
import { usePage } from '../page/page.tsx';
import { AppEditor } from './app-editor.tsx';
import { AppList } from './app-list.tsx';
import type { Beginning } from './beginning.ts';
import './builder.css';

interface BuilderProps {
  /** Of the application that is open; '' for one that is yet to be made, undefined for the list. */
  readonly id: string | undefined;
  readonly openMenu: () => void;
}

/** Where users make applications of their own. */
export function Builder({ id, openMenu }: BuilderProps) {
  const { go } = usePage();
  const [beginning, setBeginning] = useState<Beginning>();
  const [madeId, setMadeId] = useState<string>();
  const [lastId, setLastId] = useState(id);
  const [round, setRound] = useState(0);
  if (id !== lastId) {
    setLastId(id);
    if (id === '') setRound(round + 1);
  }
  const begin = (next: Beginning | undefined): void => {
    setBeginning(next);
    setMadeId(undefined);
    go({ at: 'applications', id: '' });
  };
  const noteMade = (made: string): void => {
    setMadeId(made);
    go({ at: 'applications', id: made });
  };
  if (id === undefined) return <AppList {...{ openMenu, begin }} />;
  // What was new stays as it is on the screen when it gets its id, which the address shows later.
  const isBegun = id === '' || id === madeId;
  return <AppEditor key={isBegun ? round : id} {...{ id, openMenu, noteMade }} beginning={isBegun ? beginning : undefined} />;
}
