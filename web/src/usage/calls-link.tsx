import type { ReactNode } from 'react';
import type { CallsFilter } from './read-calls.ts';

interface CallsLinkProps {
  readonly of: CallsFilter;
  readonly open: (of: CallsFilter) => void;
  /** Label for screen readers, which contains the visible text. */
  readonly label: string;
  readonly children: ReactNode;
}

/** A name or sum that opens the individual calls. */
export function CallsLink({ of, open, label, children }: CallsLinkProps) {
  return (
    <button
      {...{ type: 'button', className: 'calls-link', title: label, 'data-calls': toKey(of) }}
      aria-label={label}
      onClick={() => open(of)}
    >
      {children}
    </button>
  );
}

/** Focuses the element that opened the calls, if it still exists. */
export function focusLink(of: CallsFilter): void {
  const links = [...document.querySelectorAll<HTMLElement>('.calls-link')];
  links.find(({ dataset }) => dataset.calls === toKey(of))?.focus();
}

function toKey({ from, to, deployment, user, project, outcome }: CallsFilter): string {
  return JSON.stringify([from, to, deployment, user, project, outcome]);
}
