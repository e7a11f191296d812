import { useState } from 'react';
import { usePage } from '../page/page.tsx';
import { AppEditor } from './app-editor.tsx';
import { AppList } from './app-list.tsx';
import type { InitialDraft } from './initial-draft.ts';
import './builder.css';

interface BuilderProps {
  /** Of the application that is open; '' for one that is yet to be made, undefined for the list. */
  readonly id: string | undefined;
  readonly openMenu: () => void;
}

/** Where users make applications of their own. */
export function Builder({ id, openMenu }: BuilderProps) {
  const { go } = usePage();
  const [initialDraft, setInitialDraft] = useState<InitialDraft>();
  const [createdId, setCreatedId] = useState<string>();
  const [lastId, setLastId] = useState(id);
  const [session, setSession] = useState(0);
  if (id !== lastId) {
    setLastId(id);
    if (id === '') setSession(session + 1);
  }
  const startDraft = (next: InitialDraft | undefined): void => {
    setInitialDraft(next);
    setCreatedId(undefined);
    go({ at: 'applications', id: '' });
  };
  const onCreated = (newId: string): void => {
    setCreatedId(newId);
    go({ at: 'applications', id: newId });
  };
  if (id === undefined) return <AppList {...{ openMenu, onStart: startDraft }} />;
  // What was new stays as it is on the screen when it gets its id, which the address shows later.
  const isNewDraft = id === '' || id === createdId;
  return (
    <AppEditor
      key={isNewDraft ? session : id}
      {...{ id, openMenu, onCreated }}
      initialDraft={isNewDraft ? initialDraft : undefined}
    />
  );
}
