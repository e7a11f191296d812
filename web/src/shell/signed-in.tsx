import { useCallback, useEffect, useEffectEvent, useLayoutEffect, useMemo, useRef, useState, useSyncExternalStore } from 'react';
import { ChatPage } from '../chat/chat-page.tsx';
import { AnswerNotifications } from '../notifications/answer-notifications.ts';
import { OfflineNote } from '../offline/offline-note.tsx';
import { CommandRegistry } from '../palette/command-registry.ts';
import { Shortcuts } from '../palette/shortcuts.tsx';
import { Icon, TextButton } from '../parts/icon.tsx';
import { Guard, lazyView, MissingPart } from '../parts/lazy-view.tsx';
import { listDeployments } from '../service/deployments.ts';
import { useStrings } from '../strings/strings.tsx';
import type { Appearance } from './appearance.ts';
import { type Page, PageContext, usePage } from './page.tsx';
import { formatRoute, parseRoute, type Route } from './route.ts';
import type { Session } from './session.ts';
import { type ChatSearch, Sidebar } from './sidebar.tsx';
import { useUndo } from './use-undo.tsx';

const Builder = lazyView(() => import('../builder/builder.tsx').then(({ Builder: view }) => view));
const ConsentPage = lazyView(() => import('../consent/consent-page.tsx').then(({ ConsentPage: view }) => view));
const ConsentsPage = lazyView(() => import('../consent/consents-page.tsx').then(({ ConsentsPage: view }) => view));
const FilesPage = lazyView(() => import('../files/files-page.tsx').then(({ FilesPage: view }) => view));
const UsagePage = lazyView(() => import('../usage/usage-page.tsx').then(({ UsagePage: view }) => view));
const BackgroundPage = lazyView(() => import('../background/background-page.tsx').then(({ BackgroundPage: view }) => view));
const TemporaryChat = lazyView(() => import('../temporary/temporary-chat.tsx').then(({ TemporaryChat: view }) => view));
const SharedPage = lazyView(() => import('../share/shared-page.tsx').then(({ SharedPage: view }) => view));
const OperationsPage = lazyView(() => import('../operations/operations-page.tsx').then(({ OperationsPage: view }) => view));
const AdministrationPage = lazyView(() =>
  import('../administration/administration-page.tsx').then(({ AdministrationPage: view }) => view),
);
const versionCheckIntervalMs = 300_000;

interface SignedInProps {
  readonly session: Session;
  readonly signOut: () => void;
  readonly appearance: Appearance;
  readonly setAppearance: (next: Appearance) => void;
}

/** The page of a signed-in user. */
export function SignedIn({ session, signOut, appearance, setAppearance }: SignedInProps) {
  const strings = useStrings();
  const [route, setRoute] = useState<Route>(() => parseRoute(location.hash));
  const [deployments, setDeployments] = useState(session.deployments);
  const [announcement, setAnnouncement] = useState('');
  const { isMenuOpen, isCollapsed, open: openMenu, closeMenu, collapse } = useSidebar();
  const [commands] = useState(() => new CommandRegistry());
  const [paletteOpenCount, setPaletteOpenCount] = useState(0);
  const [chatSearch, setChatSearch] = useState<ChatSearch>();
  const { offerUndo, note: undoNote } = useUndo();
  const searchChats = (text: string): void => {
    openMenu();
    setChatSearch({ text });
  };
  // The effect runs after the sidebar opens, which focuses another element.
  useEffect(() => {
    if (chatSearch !== undefined) document.querySelector<HTMLElement>('.sidebar input')?.focus();
  }, [chatSearch]);

  const shouldStay = useRef<(hash: string) => boolean>(undefined);
  const blockNavigation = useCallback<NonNullable<Page['blockNavigation']>>((next) => {
    shouldStay.current = next;
  }, []);
  const go = useCallback((next: Route) => {
    if (formatRoute(next) === location.hash) setRoute(next);
    else location.hash = formatRoute(next);
  }, []);

  const onNavigate = useEffectEvent(closeMenu);
  // A layout effect listens before the page is visible: a passive effect would miss a link that is followed immediately.
  useLayoutEffect(() => {
    const onHashChange = (): void => {
      if (shouldStay.current?.(location.hash)) return;
      setRoute(parseRoute(location.hash));
      onNavigate();
    };
    const save = (): void => session.library.saveAll();
    addEventListener('hashchange', onHashChange);
    document.addEventListener('visibilitychange', save);
    addEventListener('pagehide', save);
    return () => {
      removeEventListener('hashchange', onHashChange);
      document.removeEventListener('visibilitychange', save);
      removeEventListener('pagehide', save);
    };
  }, [session]);

  const refresh = useCallback(() => listDeployments(session.service).then(setDeployments), [session]);
  const page = useMemo<Page>(
    () => ({
      ...session,
      deployments,
      refresh,
      route,
      go,
      blockNavigation,
      signOut,
      commands,
      offerUndo,
      announce: setAnnouncement,
    }),
    [session, deployments, refresh, route, go, blockNavigation, signOut, commands, offerUndo],
  );
  return (
    <PageContext value={page}>
      <button type="button" className="skip-link" onClick={() => document.getElementById('message')?.focus()}>
        {strings.skipToMessage}
      </button>
      <VersionNote />
      {undoNote}
      <OfflineNote />
      <AnswerNotifications />
      <div className={isCollapsed ? 'page collapsed' : 'page'}>
        <Sidebar
          {...{ isMenuOpen, closeMenu, collapse, chatSearch, appearance, setAppearance }}
          openPalette={() => setPaletteOpenCount((count) => count + 1)}
        />
        <Guard key={route.at} fallback={<MissingPart />} pending={<main className="content" aria-busy="true" />}>
          <Content route={route} openMenu={openMenu} />
        </Guard>
      </div>
      <Guard fallback={null}>
        <Shortcuts openCount={paletteOpenCount} searchChats={searchChats} />
      </Guard>
      <p className="visually-hidden" role="status">
        {announcement}
      </p>
    </PageContext>
  );
}

function Content({ route, openMenu }: { readonly route: Route; readonly openMenu: () => void }) {
  const { canAudit } = usePage();
  const lazyContent = renderLazyContent(route, canAudit, openMenu);
  if (lazyContent !== undefined) return lazyContent;
  const id = route.at === 'conversation' ? route.id : undefined;
  const { deployment: preferred, project } = route.at === 'new' ? route : {};
  return (
    <ChatPage
      key={id ?? `new ${preferred ?? ''} ${project ?? ''}`}
      {...{ id, preferred, project, openMenu }}
      missingTarget={route.at === 'new' ? route.missingTarget : route.at === 'conversation' ? undefined : 'view'}
    />
  );
}

/** Content that is loaded on demand. */
function renderLazyContent(route: Route, canAudit: boolean, openMenu: () => void) {
  if (route.at === 'consents') return <ConsentsPage openMenu={openMenu} />;
  if (route.at === 'consent') return <ConsentPage key={route.deployment} {...{ openMenu }} {...route} />;
  if (route.at === 'applications') return <Builder id={route.id} openMenu={openMenu} />;
  if (route.at === 'files') return <FilesPage key={formatRoute(route)} {...route} openMenu={openMenu} />;
  if (route.at === 'background') return <BackgroundPage key={route.id} id={route.id} openMenu={openMenu} />;
  if (route.at === 'shared') return <SharedPage key={route.token} token={route.token} openMenu={openMenu} />;
  if (route.at === 'temporary') return <TemporaryChat deployment={route.deployment} openMenu={openMenu} />;
  if (route.at === 'usage') return <UsagePage key={route.scope} scope={canAudit ? route.scope : undefined} openMenu={openMenu} />;
  if (route.at === 'operations' && canAudit) return <OperationsPage openMenu={openMenu} />;
  if (route.at === 'administration' && canAudit)
    return <AdministrationPage section={route.section} id={route.id} openMenu={openMenu} />;
  return undefined;
}

/**
 * A note about a new version of the page. The page is never reloaded automatically, and the note offers no reload while an answer
 * is in progress.
 */
function VersionNote() {
  const strings = useStrings();
  const { library, replyRunner } = usePage();
  const isNew = useNewVersion();
  const [isDismissed, setIsDismissed] = useState(false);
  const isBusy = useSyncExternalStore(library.subscribe, () => replyRunner.isBusy());
  if (!isNew || isDismissed) return null;
  const reload = (): void => {
    library.saveAll();
    location.reload();
  };
  return (
    <div className="banner page-banner version-note" role="status">
      <Icon name="again" />
      <p>{isBusy ? strings.newVersionWaits : strings.newVersion}</p>
      {!isBusy && <TextButton onClick={reload}>{strings.reload}</TextButton>}
      <TextButton className="button quiet" onClick={() => setIsDismissed(true)}>
        {strings.later}
      </TextButton>
    </div>
  );
}

/** Whether the service has another version of the page. Checked at intervals, and when the page becomes visible. */
function useNewVersion(): boolean {
  const [isNew, setIsNew] = useState(false);
  useEffect(() => {
    if (isNew) return;
    const check = (): void => {
      if (!document.hidden && navigator.onLine) void isNewVersionServed().then((isOutdated) => isOutdated && setIsNew(true));
    };
    const timer = setInterval(check, versionCheckIntervalMs);
    document.addEventListener('visibilitychange', check);
    return () => {
      clearInterval(timer);
      document.removeEventListener('visibilitychange', check);
    };
  }, [isNew]);
  return isNew;
}

/**
 * Returns whether the service has other scripts than this page, because the names of built scripts depend on their content.
 * Returns false if the check fails.
 */
async function isNewVersionServed(): Promise<boolean> {
  const currentScript = document.querySelector('script[type="module"][src*="/assets/"]')?.getAttribute('src');
  const answer = await fetch('./', { cache: 'no-cache', credentials: 'omit' }).catch(() => undefined);
  if (currentScript == null || answer?.ok !== true) return false;
  const html = await answer.text().catch(() => '');
  return html.includes('src="./assets/') && !html.includes(`src="${currentScript}"`);
}

const sidebarKey = 'parley sidebar';
/** Narrower windows show the sidebar as a drawer (page.css). */
const narrowWindow = '(max-width: 52rem)';

interface SidebarState {
  /** Whether the drawer of a narrow window is open. */
  readonly isMenuOpen: boolean;
  /** Whether a wide window hides the sidebar. The browser stores this choice. */
  readonly isCollapsed: boolean;
  /** Opens the drawer, or shows the sidebar again. */
  readonly open: () => void;
  readonly closeMenu: () => void;
  readonly collapse: () => void;
}

function useSidebar(): SidebarState {
  const [isMenuOpen, setIsMenuOpen] = useState(false);
  const [isCollapsed, setIsCollapsed] = useState(() => localStorage.getItem(sidebarKey) === 'collapsed');
  const wasCollapsed = useRef(isCollapsed);
  useEffect(() => {
    if (wasCollapsed.current === isCollapsed) return;
    wasCollapsed.current = isCollapsed;
    if (isCollapsed) localStorage.setItem(sidebarKey, 'collapsed');
    else localStorage.removeItem(sidebarKey);
    // The button that was used is hidden now.
    document.querySelector<HTMLElement>(isCollapsed ? '.page-header button' : '.sidebar-collapse')?.focus();
  }, [isCollapsed]);
  useEffect(() => {
    const narrowQuery = matchMedia(narrowWindow);
    const closeMenu = (): void => setIsMenuOpen(false);
    narrowQuery.addEventListener('change', closeMenu);
    return () => narrowQuery.removeEventListener('change', closeMenu);
  }, []);
  return {
    isMenuOpen,
    isCollapsed,
    open: () => (matchMedia(narrowWindow).matches ? setIsMenuOpen(true) : setIsCollapsed(false)),
    closeMenu: () => setIsMenuOpen(false),
    collapse: () => setIsCollapsed(true),
  };
}
