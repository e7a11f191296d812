import type { ReactNode } from 'react';
import type { CallsFilter } from './read-calls.ts';

interface CallsLinkProps {
  readonly of: CallsFilter;
  readonly open: (of: CallsFilter) => void;
  /** What is heard; what is seen stands in it. */
  readonly label: string;
  readonly children: ReactNode;
}

/** A name or a number of the sums that leads to the single calls behind it. */
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

/** Goes back to where calls were opened, if it is there. */
export function focusLink(of: CallsFilter): void {
  const links = [...document.querySelectorAll<HTMLElement>('.calls-link')];
  links.find(({ dataset }) => dataset.calls === toKey(of))?.focus();
}

function toKey({ from, to, deployment, user, project, outcome }: CallsFilter): string {
  return JSON.stringify([from, to, deployment, user, project, outcome]);
}
