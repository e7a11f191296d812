import type { ReactNode } from 'react';
import type { CallsFilter } from './read-calls.ts';

interface CallsLinkProps {
  readonly filter: CallsFilter;
  readonly open: (filter: CallsFilter) => void;
  /** Label for screen readers, which contains the visible text. */
  readonly label: string;
  readonly children: ReactNode;
}

/** A name or a number that opens the individual calls. */
export function CallsLink({ filter, open, label, children }: CallsLinkProps) {
  return (
    <button
      {...{ type: 'button', className: 'calls-link', title: label, 'data-calls': toKey(filter) }}
      aria-label={label}
      onClick={() => open(filter)}
    >
      {children}
    </button>
  );
}

/** Focuses the element that opened the calls, if it still exists. */
export function focusLink(filter: CallsFilter): void {
  const links = [...document.querySelectorAll<HTMLElement>('.calls-link')];
  links.find(({ dataset }) => dataset.calls === toKey(filter))?.focus();
}

function toKey({ from, to, deployment, user, project, outcome }: CallsFilter): string {
  return JSON.stringify([from, to, deployment, user, project, outcome]);
}
