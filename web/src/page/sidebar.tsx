import { useDeferredValue, useEffect, useId, useRef, useState } from 'react';
import type { Head } from '../conversation/database.ts';
import { findHeads } from '../conversation/library.ts';
import { Icon } from '../parts/icon.tsx';
import { Mark } from '../parts/mark.tsx';
import { useWords } from '../words/words.tsx';
import type { Appearance } from './appearance.ts';
import { useHeads, usePage } from './page.tsx';
import { toHash } from './place.ts';
import { SettingsMenu } from './settings-menu.tsx';

interface SidebarProps {
  readonly isMenuOpen: boolean;
  readonly closeMenu: () => void;
  readonly appearance: Appearance;
  readonly setAppearance: (next: Appearance) => void;
}

/** The user's conversations and the way to everything else; on narrow screens a drawer. */
export function Sidebar({ isMenuOpen, closeMenu, appearance, setAppearance }: SidebarProps) {
  const words = useWords();
  const { place, isStorageGone } = usePage();
  const [query, setQuery] = useState('');
  const heads = findHeads(useHeads(), useDeferredValue(query));
  const panel = useRef<HTMLElement>(null);
  const search = useId();
  useEffect(() => {
    if (isMenuOpen) panel.current?.querySelector<HTMLElement>('a, button')?.focus();
  }, [isMenuOpen]);
  return (
    <>
      {isMenuOpen && <button type="button" className="curtain" aria-label={words.hideConversations} onClick={closeMenu} />}
      <nav
        {...{ ref: panel, className: isMenuOpen ? 'sidebar open' : 'sidebar' }}
        aria-label={words.conversations}
        onKeyDown={({ key }) => key === 'Escape' && closeMenu()}
      >
        <div className="sidebar-top">
          <a className="wordmark" href={toHash({ at: 'new' })}>
            <Mark size={26} />
            {words.product}
          </a>
          <button type="button" className="icon-button narrow-only" aria-label={words.close} onClick={closeMenu}>
            <Icon name="close" />
          </button>
        </div>
        <a
          className="button new-conversation"
          href={toHash({ at: 'new' })}
          aria-current={place.at === 'new' ? 'page' : undefined}
          onClick={closeMenu}
        >
          <Icon name="plus" />
          {words.newConversation}
        </a>
        <div className="search">
          <Icon name="search" />
          <label className="heard-only" htmlFor={search}>
            {words.searchConversations}
          </label>
          <input
            id={search}
            type="search"
            placeholder={words.searchConversations}
            value={query}
            onChange={({ target }) => setQuery(target.value)}
          />
        </div>
        <HeadList heads={heads} query={query} />
        {isStorageGone && <p className="trouble small">{words.storageFailed}</p>}
        <div className="sidebar-foot">
          <a
            className="quiet-link"
            href={toHash({ at: 'applications' })}
            aria-current={place.at === 'applications' ? 'page' : undefined}
          >
            <Icon name="build" />
            {words.applicationsPage}
          </a>
          <a className="quiet-link" href={toHash({ at: 'consents' })} aria-current={place.at === 'consents' ? 'page' : undefined}>
            <Icon name="shield" />
            {words.consentPage}
          </a>
          <SettingsMenu {...{ appearance, setAppearance }} />
        </div>
      </nav>
    </>
  );
}

function HeadList({ heads, query }: { readonly heads: readonly Head[]; readonly query: string }) {
  const words = useWords();
  if (heads.length === 0) {
    return (
      <p className="sidebar-empty soft small">{query.trim() === '' ? words.noConversations : words.nothingFound(query.trim())}</p>
    );
  }
  const midnight = new Date().setHours(0, 0, 0, 0);
  const groups = [
    { name: words.today, items: heads.filter(({ updatedAtMs }) => updatedAtMs >= midnight) },
    { name: words.earlier, items: heads.filter(({ updatedAtMs }) => updatedAtMs < midnight) },
  ];
  return (
    <div className="heads">
      {groups.map(
        ({ name, items }) =>
          items.length > 0 && (
            <section key={name} aria-label={name}>
              <h2 className="overline">{name}</h2>
              <ul>
                {items.map((head) => (
                  <HeadItem key={head.id} head={head} />
                ))}
              </ul>
            </section>
          ),
      )}
    </div>
  );
}

function HeadItem({ head }: { readonly head: Head }) {
  const words = useWords();
  const { place, library, go } = usePage();
  const isHere = place.at === 'conversation' && place.id === head.id;
  const title = head.title || words.untitled;
  const remove = (): void => {
    if (!confirm(words.deleteQuestion(title))) return;
    library.remove(head.id);
    if (isHere) go({ at: 'new' });
  };
  return (
    <li className="head">
      <a href={toHash({ at: 'conversation', id: head.id })} aria-current={isHere ? 'page' : undefined}>
        {title}
      </a>
      <button type="button" className="icon-button head-delete" aria-label={words.deleteConversation(title)} onClick={remove}>
        <Icon name="trash" />
      </button>
    </li>
  );
}
