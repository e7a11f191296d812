import { useState } from 'react';
import { usePage } from '../shell/page.tsx';
import { AppEditor } from './app-editor.tsx';
import { AppList } from './app-list.tsx';
import type { InitialDraft } from './use-app-draft.ts';
import '../forms/forms.css';
import './builder.css';

interface BuilderProps {
  /** ID of the open application. '' is a new one, and undefined is the list. */
  readonly id: string | undefined;
  readonly openMenu: () => void;
}

/** Lists and edits the user's own applications. */
export function Builder({ id, openMenu }: BuilderProps) {
  const { go } = usePage();
  const [initialDraft, setInitialDraft] = useState<InitialDraft>();
  const [createdId, setCreatedId] = useState<string>();
  const [previousId, setPreviousId] = useState(id);
  const [newDraftCount, setNewDraftCount] = useState(0);
  if (id !== previousId) {
    setPreviousId(id);
    if (id === '') setNewDraftCount(newDraftCount + 1);
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
  // A new application keeps its editor when the first save assigns its ID.
  const isNewDraft = id === '' || id === createdId;
  return (
    <AppEditor
      key={isNewDraft ? newDraftCount : id}
      {...{ id, openMenu, onCreated }}
      initialDraft={isNewDraft ? initialDraft : undefined}
    />
  );
}
