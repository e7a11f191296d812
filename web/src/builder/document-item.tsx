import type { ReactNode } from 'react';
import { Icon } from '../parts/icon.tsx';
import { useBuilderWords } from './builder-words.ts';
import './documents.css';
import type { DocumentState } from './document-states.ts';
import { RemoveButton } from './remove-button.tsx';

interface DocumentItemProps {
  readonly id: string;
  readonly name: string;
  readonly reference: string;
  /** Undefined for what is not saved yet. */
  readonly state: DocumentState | undefined;
  readonly remove: () => void;
  readonly children: ReactNode;
}

/** A document of the application, and how far the service is with reading it. */
export function DocumentItem({ id, name, reference, state, remove, children }: DocumentItemProps) {
  const hasFailed = state?.state === 'failed';
  return (
    <li className={hasFailed ? 'upload document failed' : 'upload document'} id={id}>
      <Icon name="file" />
      <span className="upload-name" title={reference}>
        {name}
      </span>
      {state !== undefined && <StateLine {...{ name, state }} />}
      <RemoveButton {...{ name, remove }} icon="close" />
      {children}
    </li>
  );
}

function StateLine({ name, state: { state, reason, done, total } }: { readonly name: string; readonly state: DocumentState }) {
  const words = useBuilderWords();
  const isCounted = state === 'indexing' && total !== undefined;
  return (
    <>
      {isCounted && <progress value={done} max={total} aria-label={words.documentRead(name, done, total)} />}
      <span className="document-state soft" aria-hidden={isCounted}>
        {isCounted ? words.passagesRead(done, total) : [words.documentStates[state], reason].filter(Boolean).join(' · ')}
      </span>
    </>
  );
}
