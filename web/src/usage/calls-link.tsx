import type { ReactNode } from 'react';
import type { CallsOf } from './read-calls.ts';

interface CallsLinkProps {
  readonly of: CallsOf;
  readonly open: (of: CallsOf) => void;
  /** What is heard; what is seen stands in it. */
  readonly label: string;
  readonly children: ReactNode;
}

/** A name or a number of the sums that leads to the single calls behind it. */
export function CallsLink({ of, open, label, children }: CallsLinkProps) {
  return (
    <button
      {...{ type: 'button', className: 'calls-link', title: label, 'data-calls': keyOf(of) }}
      aria-label={label}
      onClick={() => open(of)}
    >
      {children}
    </button>
  );
}

/** Goes back to where calls were opened, if it is there. */
export function focusLink(of: CallsOf): void {
  const links = [...document.querySelectorAll<HTMLElement>('.calls-link')];
  links.find(({ dataset }) => dataset.calls === keyOf(of))?.focus();
}

function keyOf({ from, to, deployment, user, project, outcome }: CallsOf): string {
  return JSON.stringify([from, to, deployment, user, project, outcome]);
}
