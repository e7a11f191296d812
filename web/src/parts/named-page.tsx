import { type ReactNode, useEffect } from 'react';
import { useStrings } from '../strings/strings.tsx';
import { Icon } from './icon.tsx';

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

/** The line above the content; on narrow screens with the way to the conversations. */
export function PageHeader({ openMenu, children }: { readonly openMenu: () => void; readonly children: ReactNode }) {
  const strings = useStrings();
  return (
    <header className="page-header">
      <button
        type="button"
        className="icon-button narrow-only"
        aria-label={strings.showConversations}
        title={strings.showConversations}
        onClick={openMenu}
      >
        <Icon name="menu" />
      </button>
      {children}
    </header>
  );
}

/** Names the window by what it shows, and the product. */
export function useTitle(title: string): void {
  const { product } = useStrings();
  useEffect(() => {
    document.title = `${title} · ${product}`;
  }, [title, product]);
}
