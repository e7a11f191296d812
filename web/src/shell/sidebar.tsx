import { type RefObject, useEffect, useEffectEvent, useMemo, useRef, useState } from 'react';
import { isJsonObject } from '#base/json/json.ts';
import { DialogButton } from '../palette/dialog-button.tsx';
import { formatKeys } from '../palette/format-keys.ts';
import { Icon, IconButton, type IconName } from '../parts/icon.tsx';
import { lazyView } from '../parts/lazy-view.tsx';
import { Logo } from '../parts/operator-brand.tsx';
import { SearchField } from '../parts/search-field.tsx';
import { useStrings } from '../strings/strings.tsx';
import type { Appearance } from './appearance.ts';
import { type ConversationFilter, filterConversations } from './conversation-filter.ts';
import { ConversationList, useSearchResult } from './conversation-list.tsx';
import { usePage, useProjectNames, useSummaries } from './page.tsx';
import { formatRoute, type Route } from './route.ts';
import { SettingsMenu } from './settings-menu.tsx';

const NewProjectDialog = lazyView(() =>
  import('../chat-projects/projects-dialog.tsx').then(({ NewProjectDialog: view }) => view),
);
const ProjectDialog = lazyView(() => import('../chat-projects/projects-dialog.tsx').then(({ ProjectDialog: view }) => view));

/** A request to search the chats. Each request is a new object, so that a repeated search for the same text is noticed. */
export interface ChatSearch {
  readonly text: string;
}

interface SidebarProps {
  readonly isMenuOpen: boolean;
  readonly closeMenu: () => void;
  /** Hides the sidebar of a wide window. */
  readonly collapse: () => void;
  readonly openPalette: () => void;
  readonly chatSearch: ChatSearch | undefined;
  readonly appearance: Appearance;
  readonly setAppearance: (next: Appearance) => void;
}

/** Chats and navigation. On narrow screens, it is a drawer. */
export function Sidebar({ isMenuOpen, closeMenu, collapse, openPalette, chatSearch, appearance, setAppearance }: SidebarProps) {
  const strings = useStrings();
  const { route, canAudit, isStorageUnavailable, library } = usePage();
  const hasBackgroundAnswers = useHasBackgroundAnswers();
  const [query, setQuery] = useState('');
  const [lastSearch, setLastSearch] = useState(chatSearch);
  if (chatSearch !== lastSearch) {
    setLastSearch(chatSearch);
    setQuery(chatSearch?.text ?? '');
  }
  const [filter, setFilter] = useState<ConversationFilter>('all');
  const searchText = query.trim();
  const { summaries: foundSummaries, excerpts, isSearching } = useSearchResult(query);
  const isSearch = searchText !== '';
  const visibleSummaries = useMemo(
    () => filterConversations(foundSummaries, filter, isSearch),
    [foundSummaries, filter, isSearch],
  );
  const emptyText = isSearching ? strings.loading : strings.nothingFound(searchText);
  const panel = useRef<HTMLElement>(null);
  useClearFilter({
    keepsFilter:
      route.at === 'conversation'
        ? visibleSummaries.some(({ id }) => id === route.id)
        : isNewInProject(route, filter) || route.at !== 'new',
    unfilter: () => {
      setQuery('');
      setFilter('all');
    },
  });
  useModalPanel(panel, isMenuOpen, closeMenu);
  return (
    <>
      {isMenuOpen && (
        <button
          {...{ type: 'button', className: 'sidebar-backdrop', tabIndex: -1 }}
          aria-label={strings.hideConversations}
          onClick={closeMenu}
        />
      )}
      <nav {...{ ref: panel, className: isMenuOpen ? 'sidebar open' : 'sidebar' }} aria-label={strings.conversations}>
        <div className="sidebar-header">
          <a className="wordmark" href={formatRoute({ at: 'new' })}>
            <Logo size={26} />
            {strings.product}
          </a>
          <IconButton icon="panel" className="wide-only sidebar-collapse" label={strings.hideConversations} onClick={collapse} />
          <IconButton icon="close" className="narrow-only" label={strings.close} onClick={closeMenu} />
        </div>
        <a
          className="button new-conversation"
          href={formatRoute({ at: 'new' })}
          aria-current={route.at === 'new' ? 'page' : undefined}
          onClick={closeMenu}
        >
          <Icon name="plus" />
          {strings.newConversation}
        </a>
        <button type="button" className="quiet-link" aria-haspopup="dialog" onClick={openPalette}>
          <Icon name="searchAll" />
          {strings.findAnything}
          <kbd className="soft small wide-only">{formatKeys('Mod K').join(' ')}</kbd>
        </button>
        <SearchField
          {...{ label: strings.searchConversations, value: query, onChange: setQuery }}
          onFocus={() => library.prepareSearch()}
          onKeyDown={(event) => {
            if (event.key !== 'ArrowDown') return;
            event.preventDefault();
            panel.current?.querySelector<HTMLElement>('.conversation-list a')?.focus();
          }}
        />
        <FilterList {...{ filter, closeMenu }} onSelect={setFilter} />
        <ConversationList
          {...{ summaries: visibleSummaries, excerpts, query: searchText, empty: isSearch ? emptyText : strings.noConversations }}
          todayMs={new Date().setHours(0, 0, 0, 0)}
        />
        {isStorageUnavailable && <p className="error-text small">{strings.storageFailed}</p>}
        <div className="sidebar-footer">
          <PageLink to="applications" icon="build" name={strings.applicationsPage} />
          <PageLink to="consents" icon="shield" name={strings.consentPage} />
          <PageLink to="files" icon="file" name={strings.filesPage} />
          {hasBackgroundAnswers && <PageLink to="background" icon="clock" name={strings.backgroundPage} />}
          <PageLink to="usage" icon="bars" name={strings.usagePage} />
          {canAudit && <PageLink to="operations" icon="pulse" name={strings.operationsPage} />}
          {canAudit && <PageLink to="administration" icon="columns" name={strings.administrationPage} />}
          <SettingsMenu {...{ appearance, setAppearance }} />
        </div>
      </nav>
    </>
  );
}

/** Clears the filter if it hides a chat that was just started or opened. */
function useClearFilter({ keepsFilter, unfilter }: { readonly keepsFilter: boolean; readonly unfilter: () => void }): void {
  const { route } = usePage();
  const target = route.at === 'conversation' ? route.id : [route.at, route.at === 'new' ? route.project : ''].join(' ');
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs once per route, not for each letter of a search
  useEffect(() => {
    if (!keepsFilter) unfilter();
  }, [target]);
}

interface PageLinkProps {
  readonly to: 'applications' | 'consents' | 'files' | 'background' | 'usage' | 'operations' | 'administration';
  readonly icon: IconName;
  readonly name: string;
}

function PageLink({ to, icon, name }: PageLinkProps) {
  const { route } = usePage();
  return (
    <a className="quiet-link" href={formatRoute({ at: to })} aria-current={route.at === to ? 'page' : undefined}>
      <Icon name={icon} />
      {name}
    </a>
  );
}

interface FilterListProps {
  readonly filter: ConversationFilter;
  readonly closeMenu: () => void;
  readonly onSelect: (filter: ConversationFilter) => void;
}

/** Filters for projects and the archive, if there are any, and a button for a new project. Selects the project of a new chat. */
function FilterList({ filter, closeMenu, onSelect }: FilterListProps) {
  const strings = useStrings();
  const { route } = usePage();
  const summaries = useSummaries();
  const projectNames = useProjectNames(lowPriorityDelayMs);
  const newChatProject = route.at === 'new' && projectNames.includes(route.project ?? '') ? route.project : undefined;
  useEffect(() => {
    if (newChatProject !== undefined) onSelect({ tag: newChatProject });
  }, [newChatProject, onSelect]);
  const hasArchived = summaries.some(({ archived }) => archived === true);
  const isStale = typeof filter === 'object' ? !projectNames.includes(filter.tag) : filter === 'archived' && !hasArchived;
  useEffect(() => {
    if (isStale) onSelect('all');
  }, [isStale, onSelect]);
  const options: readonly (readonly [string, ConversationFilter])[] = [
    [strings.allChats, 'all'],
    ...projectNames.map((tag) => [tag, { tag }] as const),
    ...(hasArchived ? [[strings.archived, 'archived'] as const] : []),
  ];
  const isSelected = (option: ConversationFilter): boolean =>
    typeof option === 'object' && typeof filter === 'object' ? option.tag === filter.tag : option === filter;
  return (
    <>
      {options.length > 1 && (
        <div {...{ className: 'filters', role: 'group', 'aria-label': strings.showOnly }}>
          {options.map(([name, option]) => (
            <button
              key={typeof option === 'object' ? `tag ${name}` : option}
              {...{ type: 'button', className: 'button slim' }}
              aria-pressed={isSelected(option)}
              onClick={() => onSelect(isSelected(option) ? 'all' : option)}
            >
              {name}
            </button>
          ))}
        </div>
      )}
      {typeof filter === 'object' ? (
        <ProjectActions project={filter.tag} onRename={(tag) => onSelect({ tag })} />
      ) : (
        <div className="project-actions">
          <DialogButton {...{ id: 'new project', icon: 'folder', title: strings.newProject, form: 'line' }}>
            {(close) => (
              <NewProjectDialog
                names={projectNames}
                close={() => {
                  close();
                  closeMenu();
                }}
              />
            )}
          </DialogButton>
        </div>
      )}
    </>
  );
}

interface ProjectActionsProps {
  readonly project: string;
  readonly onRename: (project: string) => void;
}

/** Actions of the project whose chats are listed. */
function ProjectActions({ project, onRename }: ProjectActionsProps) {
  const strings = useStrings();
  const { storesFiles } = usePage();
  return (
    <div className="project-actions">
      <a className="quiet-link" href={formatRoute({ at: 'new', project })}>
        <Icon name="plus" />
        {strings.newInProject(project)}
      </a>
      {storesFiles && (
        <DialogButton {...{ id: 'project', icon: 'folder', title: strings.projectSettings, form: 'line' }}>
          {(close) => <ProjectDialog {...{ name: project, close, onRename }} />}
        </DialogButton>
      )}
    </div>
  );
}

/** Whether the route is a new chat of the project that is listed. */
function isNewInProject(route: Route, filter: ConversationFilter): boolean {
  return route.at === 'new' && typeof filter === 'object' && route.project === filter.tag;
}

/** Delay of requests that are not urgent, so that the page loads first. */
const lowPriorityDelayMs = 1_500;

/** Whether the user has background answers. The link is hidden otherwise, because most users have none. */
function useHasBackgroundAnswers(): boolean {
  const { service, route } = usePage();
  const [hasResponses, setHasResponses] = useState(false);
  useEffect(() => {
    const controller = new AbortController();
    const check = async (): Promise<void> => {
      const response = await service.json('v1/user/responses?limit=1', { signal: controller.signal });
      setHasResponses(isJsonObject(response) && Array.isArray(response.data) && response.data.length > 0);
    };
    const timer = setTimeout(() => void check().catch(() => undefined), lowPriorityDelayMs);
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  }, [service]);
  return hasResponses || route.at === 'background';
}

/**
 * While a panel is open, other elements cannot be reached. Escape closes it. Restores the focus, or moves it to the page header if
 * the previously focused element no longer exists.
 */
function useModalPanel(panel: RefObject<HTMLElement | null>, isOpen: boolean, close: () => void): void {
  const onKeyDown = useEffectEvent(({ key }: KeyboardEvent) => {
    if (key === 'Escape' && document.querySelector('dialog[open]') === null) close();
  });
  useEffect(() => {
    const element = panel.current;
    if (!isOpen || element === null) return;
    const previousFocus = document.activeElement;
    const outsideElements = listOutsideElements(element);
    for (const outside of outsideElements) outside.inert = true;
    element.querySelector<HTMLElement>('a, button')?.focus();
    const onDocumentKeyDown = (event: KeyboardEvent): void => void onKeyDown(event);
    document.addEventListener('keydown', onDocumentKeyDown);
    return () => {
      document.removeEventListener('keydown', onDocumentKeyDown);
      for (const outside of outsideElements) outside.inert = false;
      const canRestore = previousFocus instanceof HTMLElement && previousFocus !== document.body && previousFocus.isConnected;
      (canRestore ? previousFocus : document.querySelector<HTMLElement>('.page-header button'))?.focus();
    };
  }, [panel, isOpen]);
}

/** Lists all elements outside the panel, except for the backdrop, dialogs, and status messages. */
function listOutsideElements(panel: HTMLElement): readonly HTMLElement[] {
  const outsideElements: HTMLElement[] = [];
  for (
    let ancestor: HTMLElement = panel;
    ancestor.parentElement !== null && ancestor !== document.body;
    ancestor = ancestor.parentElement
  ) {
    for (const sibling of ancestor.parentElement.children) {
      if (sibling !== ancestor && sibling instanceof HTMLElement && !sibling.matches('.sidebar-backdrop, dialog, [role=status]'))
        outsideElements.push(sibling);
    }
  }
  return outsideElements;
}
