import { type RefObject, useEffect, useEffectEvent, useId, useMemo, useRef, useState } from 'react';
import { isJsonObject } from '#base/json/json.ts';
import { toKeys } from '../palette/keys.ts';
import { Icon, type IconName } from '../parts/icon.tsx';
import { Mark } from '../parts/operator-brand.tsx';
import { useWords } from '../words/words.tsx';
import type { Appearance } from './appearance.ts';
import { HeadList, useFoundHeads } from './head-list.tsx';
import { useHeads, usePage } from './page.tsx';
import { toHash } from './place.ts';
import { SettingsMenu } from './settings-menu.tsx';
import { onShelf, type Shelf, tagsOf } from './shelf.ts';

interface SidebarProps {
  readonly isMenuOpen: boolean;
  readonly closeMenu: () => void;
  readonly openPalette: () => void;
  readonly appearance: Appearance;
  readonly setAppearance: (next: Appearance) => void;
}

/** The user's conversations and the way to everything else; on narrow screens a drawer. */
export function Sidebar({ isMenuOpen, closeMenu, openPalette, appearance, setAppearance }: SidebarProps) {
  const words = useWords();
  const { place, isAdmin, isStorageGone, library } = usePage();
  const hasBackground = useHasBackground();
  const [query, setQuery] = useState('');
  const [shelf, setShelf] = useState<Shelf>('all');
  const asked = query.trim();
  const { heads: found, excerpts, isSearching } = useFoundHeads(query);
  const isSearch = asked !== '';
  const heads = useMemo(() => onShelf(found, shelf, isSearch), [found, shelf, isSearch]);
  const nothing = isSearching ? words.loading : words.nothingFound(asked);
  const panel = useRef<HTMLElement>(null);
  const search = useId();
  useListedPlace({
    isListed: place.at !== 'conversation' || heads.some(({ id }) => id === place.id),
    unfilter: () => {
      setQuery('');
      setShelf('all');
    },
  });
  useModalPanel({ panel, isOpen: isMenuOpen, close: closeMenu, otherwise: '.page-header button' });
  return (
    <>
      {isMenuOpen && (
        <button
          {...{ type: 'button', className: 'curtain', tabIndex: -1 }}
          aria-label={words.hideConversations}
          onClick={closeMenu}
        />
      )}
      <nav {...{ ref: panel, className: isMenuOpen ? 'sidebar open' : 'sidebar' }} aria-label={words.conversations}>
        <div className="sidebar-top">
          <a className="wordmark" href={toHash({ at: 'new' })}>
            <Mark size={26} />
            {words.product}
          </a>
          <button
            type="button"
            className="icon-button"
            aria-label={words.findAnything}
            title={`${words.findAnything} (${toKeys('Mod K').join(' ')})`}
            aria-haspopup="dialog"
            onClick={openPalette}
          >
            <Icon name="command" />
          </button>
          <button
            type="button"
            className="icon-button narrow-only"
            aria-label={words.close}
            title={words.close}
            onClick={closeMenu}
          >
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
            onFocus={() => library.prepareSearch()}
            onChange={({ target }) => setQuery(target.value)}
            onKeyDown={(event) => {
              if (event.key !== 'ArrowDown') return;
              event.preventDefault();
              panel.current?.querySelector<HTMLElement>('.heads a')?.focus();
            }}
          />
        </div>
        <Shelves {...{ shelf }} choose={setShelf} />
        <HeadList
          {...{ heads, excerpts, query: asked, empty: isSearch ? nothing : words.noConversations }}
          todayMs={new Date().setHours(0, 0, 0, 0)}
        />
        {isStorageGone && <p className="trouble small">{words.storageFailed}</p>}
        <div className="sidebar-foot">
          <PageLink to="applications" icon="build" name={words.applicationsPage} />
          <PageLink to="consents" icon="shield" name={words.consentPage} />
          <PageLink to="files" icon="file" name={words.filesPage} />
          {hasBackground && <PageLink to="background" icon="clock" name={words.backgroundPage} />}
          <PageLink to="usage" icon="bars" name={words.usagePage} />
          {isAdmin && <PageLink to="operations" icon="pulse" name={words.operationsPage} />}
          <SettingsMenu {...{ appearance, setAppearance }} />
        </div>
      </nav>
    </>
  );
}

/** Whoever begins a conversation, or opens one from elsewhere, finds it in the list: what kept it out is taken back. */
function useListedPlace({ isListed, unfilter }: { readonly isListed: boolean; readonly unfilter: () => void }): void {
  const { place } = usePage();
  const to = place.at === 'conversation' ? place.id : place.at;
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each place, not for each letter that is searched for
  useEffect(() => {
    if (to === 'new' || !isListed) unfilter();
  }, [to]);
}

interface PageLinkProps {
  readonly to: 'applications' | 'consents' | 'files' | 'background' | 'usage' | 'operations';
  readonly icon: IconName;
  readonly name: string;
}

function PageLink({ to, icon, name }: PageLinkProps) {
  const { place } = usePage();
  return (
    <a className="quiet-link" href={toHash({ at: to })} aria-current={place.at === to ? 'page' : undefined}>
      <Icon name={icon} />
      {name}
    </a>
  );
}

interface ShelvesProps {
  readonly shelf: Shelf;
  readonly choose: (shelf: Shelf) => void;
}

/** Tags and the archive, to list only what is in one; nothing before there is any. */
function Shelves({ shelf, choose }: ShelvesProps) {
  const words = useWords();
  const heads = useHeads();
  const tags = tagsOf(heads);
  const isArchive = heads.some(({ archived }) => archived === true);
  const isGone = typeof shelf === 'object' ? !tags.includes(shelf.tag) : shelf === 'archived' && !isArchive;
  useEffect(() => {
    if (isGone) choose('all');
  }, [isGone, choose]);
  if (tags.length === 0 && !isArchive) return null;
  const shelves: readonly [string, Shelf, boolean][] = [
    ...tags.map((tag) => [tag, { tag }, typeof shelf === 'object' && shelf.tag === tag] as [string, Shelf, boolean]),
    ...(isArchive ? [[words.archived, 'archived', shelf === 'archived'] as [string, Shelf, boolean]] : []),
  ];
  return (
    <div {...{ className: 'shelves', role: 'group', 'aria-label': words.showOnly }}>
      {shelves.map(([name, each, isChosen]) => (
        <button
          key={typeof each === 'object' ? `tag ${name}` : each}
          {...{ type: 'button', className: 'button slim' }}
          aria-pressed={isChosen}
          onClick={() => choose(isChosen ? 'all' : each)}
        >
          {name}
        </button>
      ))}
    </div>
  );
}

/** So long after the page is there, and nobody waits for it. */
const askAfterMs = 1_500;

/** Whether anything was answered in the background for the user: most people never meet it, and need no way there. */
function useHasBackground(): boolean {
  const { service, place } = usePage();
  const [isSome, setIsSome] = useState(false);
  useEffect(() => {
    const leaving = new AbortController();
    const ask = async (): Promise<void> => {
      const listed = await service.json('v1/user/responses?limit=1', { signal: leaving.signal });
      setIsSome(isJsonObject(listed) && Array.isArray(listed.data) && listed.data.length > 0);
    };
    const timer = setTimeout(() => void ask().catch(() => undefined), askAfterMs);
    return () => {
      clearTimeout(timer);
      leaving.abort();
    };
  }, [service]);
  return isSome || place.at === 'background';
}

interface ModalPanel {
  readonly panel: RefObject<HTMLElement | null>;
  readonly isOpen: boolean;
  readonly close: () => void;
  /** Where the focus goes at the end if what had it before is gone. */
  readonly otherwise: string;
}

/** While a panel is open, nothing beside it can be reached; Escape closes it, and the focus goes back to where it was. */
function useModalPanel({ panel, isOpen, close, otherwise }: ModalPanel): void {
  const onKeyDown = useEffectEvent(({ key }: KeyboardEvent) => key === 'Escape' && close());
  useEffect(() => {
    const own = panel.current;
    if (!isOpen || own === null) return;
    const before = document.activeElement;
    const beside = besideOf(own);
    for (const each of beside) each.inert = true;
    own.querySelector<HTMLElement>('a, button')?.focus();
    const listen = (event: KeyboardEvent): void => void onKeyDown(event);
    document.addEventListener('keydown', listen);
    return () => {
      document.removeEventListener('keydown', listen);
      for (const each of beside) each.inert = false;
      const isThere = before instanceof HTMLElement && before !== document.body && before.isConnected;
      (isThere ? before : document.querySelector<HTMLElement>(otherwise))?.focus();
    };
  }, [panel, isOpen, otherwise]);
}

/** Everything outside of an element, but for the curtain that closes it. */
function besideOf(own: HTMLElement): readonly HTMLElement[] {
  const beside: HTMLElement[] = [];
  for (let inner: HTMLElement = own; inner.parentElement !== null && inner !== document.body; inner = inner.parentElement) {
    for (const each of inner.parentElement.children) {
      if (each !== inner && each instanceof HTMLElement && !each.matches('.curtain, [role=status]')) beside.push(each);
    }
  }
  return beside;
}
