import type { ReactNode } from 'react';
import { useWords } from '../words/words.tsx';
import { Icon } from './icon.tsx';

/** The line above the content; on narrow screens with the way to the conversations. */
export function PageHeader({ openMenu, children }: { readonly openMenu: () => void; readonly children: ReactNode }) {
  const words = useWords();
  return (
    <header className="page-header">
      <button
        type="button"
        className="icon-button narrow-only"
        aria-label={words.showConversations}
        title={words.showConversations}
        onClick={openMenu}
      >
        <Icon name="menu" />
      </button>
      {children}
    </header>
  );
}
