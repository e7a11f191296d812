import type { ReactNode } from 'react';
import { PageHeader } from './page-header.tsx';
import { useTitle } from './use-title.ts';

interface NamedPageProps {
  /** In the line above the content. */
  readonly name: string;
  /** Of the window; absent: the name. */
  readonly title?: string;
  readonly isBusy?: boolean;
  readonly openMenu: () => void;
  readonly children: ReactNode;
}

/** A page beside the conversations, with its name above it. */
export function NamedPage({ name, title = name, isBusy, openMenu, children }: NamedPageProps) {
  useTitle(title);
  return (
    <main className="content" aria-busy={isBusy}>
      <PageHeader openMenu={openMenu}>
        <span className="page-name">{name}</span>
      </PageHeader>
      {children}
    </main>
  );
}
