import { type ReactNode, useEffect } from 'react';
import { useStrings } from '../strings/strings.tsx';
import { IconButton } from './icon.tsx';

interface NamedPageProps {
  /** Heading above the content. */
  readonly name: string;
  /** Window title. The default is the name. */
  readonly title?: string;
  readonly isBusy?: boolean;
  readonly openMenu: () => void;
  readonly children: ReactNode;
}

/** A page other than a chat, with its name above it. */
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

/** The header above the content. On narrow screens it has a button for the chat list. */
export function PageHeader({ openMenu, children }: { readonly openMenu: () => void; readonly children: ReactNode }) {
  const strings = useStrings();
  return (
    <header className="page-header">
      <IconButton icon="menu" className="narrow-only" label={strings.showConversations} onClick={openMenu} />
      {children}
    </header>
  );
}

/** Sets the window title, which the browser also stores in its history, to the content, if any, and the product. */
export function useTitle(title = ''): void {
  const { product } = useStrings();
  useEffect(() => {
    document.title = title === '' ? product : `${title} · ${product}`;
    // The title of a chat must not stay after the user signs out.
    return () => {
      document.title = product;
    };
  }, [title, product]);
}
