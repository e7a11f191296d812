import { Suspense, useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState, useSyncExternalStore } from 'react';
import { ChatPage } from '../chat/chat-page.tsx';
import { ReadyNotices } from '../notifications/ready-notices.ts';
import { OfflineNote } from '../offline/offline-note.tsx';
import { CommandRegistry } from '../palette/command-registry.ts';
import { Shortcuts } from '../palette/shortcuts.tsx';
import { Icon } from '../parts/icon.tsx';
import { Guard, lazyView, MissingPart } from '../parts/lazy-view.tsx';
import { listDeployments } from '../service/deployments.ts';
import { useWords } from '../words/words.tsx';
import type { Appearance } from './appearance.ts';
import { type Page, PageContext, usePage } from './page.tsx';
import { type Place, toHash, toPlace } from './place.ts';
import type { Session } from './session.ts';
import { Sidebar } from './sidebar.tsx';
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
const everyMs = 300_000;

interface SignedInProps {
  readonly session: Session;
  readonly signOut: () => void;
  readonly appearance: Appearance;
  readonly setAppearance: (next: Appearance) => void;
}

/** The page of one who signed in. */
export function SignedIn({ session, signOut, appearance, setAppearance }: SignedInProps) {
  const words = useWords();
  const [place, setPlace] = useState<Place>(() => toPlace(location.hash));
  const [deployments, setDeployments] = useState(session.deployments);
  const [said, setSaid] = useState('');
  const [isMenuOpen, setIsMenuOpen] = useState(false);
  const [commands] = useState(() => new CommandRegistry());
  const [opening, setOpening] = useState(0);
  const { offerUndo, note } = useUndo();

  const stays = useRef<(hash: string) => boolean>(undefined);
  const hold = useCallback<NonNullable<Page['hold']>>((next) => {
    stays.current = next;
  }, []);
  const go = useCallback((next: Place) => {
    if (toHash(next) === location.hash) setPlace(next);
    else location.hash = toHash(next);
  }, []);

  // A layout effect listens before anyone sees the page: a passive effect would miss a link that is followed immediately.
  useLayoutEffect(() => {
    const arrive = (): void => {
      if (stays.current?.(location.hash)) return;
      setPlace(toPlace(location.hash));
      setIsMenuOpen(false);
    };
    const save = (): void => session.library.saveAll();
    addEventListener('hashchange', arrive);
    document.addEventListener('visibilitychange', save);
    addEventListener('pagehide', save);
    return () => {
      removeEventListener('hashchange', arrive);
      document.removeEventListener('visibilitychange', save);
      removeEventListener('pagehide', save);
    };
  }, [session]);

  const refresh = useCallback(() => listDeployments(session.service).then(setDeployments), [session]);
  const page = useMemo<Page>(
    () => ({ ...session, deployments, refresh, place, go, hold, signOut, commands, offerUndo, announce: setSaid }),
    [session, deployments, refresh, place, go, hold, signOut, commands, offerUndo],
  );
  return (
    <PageContext value={page}>
      <button type="button" className="skip" onClick={focusMessage}>
        {words.skipToMessage}
      </button>
      <VersionNote />
      {note}
      <OfflineNote />
      <ReadyNotices />
      <div className="page">
        <Sidebar
          {...{ isMenuOpen, appearance, setAppearance }}
          closeMenu={() => setIsMenuOpen(false)}
          openPalette={() => setOpening((count) => count + 1)}
        />
        <Guard key={place.at} instead={<MissingPart />}>
          <Content place={place} openMenu={() => setIsMenuOpen(true)} />
        </Guard>
      </div>
      <Guard instead={null}>
        <Shortcuts opening={opening} />
      </Guard>
      <p className="heard-only" role="status">
        {said}
      </p>
    </PageContext>
  );
}

function Content({ place, openMenu }: { readonly place: Place; readonly openMenu: () => void }) {
  const { isAdmin } = usePage();
  const later = laterContent(place, isAdmin, openMenu);
  if (later !== undefined) return <Suspense fallback={<main className="content" aria-busy="true" />}>{later}</Suspense>;
  const id = place.at === 'conversation' ? place.id : undefined;
  const preferred = place.at === 'new' ? place.deployment : undefined;
  return (
    <ChatPage
      key={id ?? `new ${preferred ?? ''}`}
      {...{ id, preferred, openMenu }}
      lost={place.at === 'new' ? place.lost : place.at === 'conversation' ? undefined : 'view'}
    />
  );
}

/** What is loaded when somebody comes to it. */
function laterContent(place: Place, isAdmin: boolean, openMenu: () => void) {
  if (place.at === 'consents') return <ConsentsPage openMenu={openMenu} />;
  if (place.at === 'consent') return <ConsentPage key={place.deployment} {...{ openMenu }} {...place} />;
  if (place.at === 'applications') return <Builder id={place.id} openMenu={openMenu} />;
  if (place.at === 'files') return <FilesPage key={place.folder} folder={place.folder} openMenu={openMenu} />;
  if (place.at === 'background') return <BackgroundPage key={place.id} id={place.id} openMenu={openMenu} />;
  if (place.at === 'shared') return <SharedPage key={place.token} token={place.token} openMenu={openMenu} />;
  if (place.at === 'temporary') return <TemporaryChat deployment={place.deployment} openMenu={openMenu} />;
  if (place.at === 'usage') return <UsagePage openMenu={openMenu} />;
  if (place.at === 'operations' && isAdmin) return <OperationsPage openMenu={openMenu} />;
  return undefined;
}

function focusMessage(): void {
  document.getElementById('message')?.focus();
}

/** Says that the service has a new version of the page. Nothing is reloaded by itself, and nothing while an answer is coming. */
function VersionNote() {
  const words = useWords();
  const { library, asking } = usePage();
  const isNew = useNewVersion();
  const [isPutOff, setIsPutOff] = useState(false);
  const isBusy = useSyncExternalStore(library.subscribe, () => asking.isBusy());
  if (!isNew || isPutOff) return null;
  const reload = (): void => {
    library.saveAll();
    location.reload();
  };
  return (
    <div className="banner over-note version-note" role="status">
      <Icon name="again" />
      <p>{isBusy ? words.newVersionWaits : words.newVersion}</p>
      {!isBusy && (
        <button type="button" className="button" onClick={reload}>
          {words.reload}
        </button>
      )}
      <button type="button" className="button quiet" onClick={() => setIsPutOff(true)}>
        {words.later}
      </button>
    </div>
  );
}

/** Whether the service has another version of the page than this one; looked at now and then, and when somebody comes back to it. */
function useNewVersion(): boolean {
  const [isNew, setIsNew] = useState(false);
  useEffect(() => {
    if (isNew) return;
    const look = (): void => {
      if (!document.hidden && navigator.onLine) void isAnotherServed().then((isAnother) => isAnother && setIsNew(true));
    };
    const timer = setInterval(look, everyMs);
    document.addEventListener('visibilitychange', look);
    return () => {
      clearInterval(timer);
      document.removeEventListener('visibilitychange', look);
    };
  }, [isNew]);
  return isNew;
}

/** The names of built scripts change with what is in them. False where that cannot be told. */
async function isAnotherServed(): Promise<boolean> {
  const own = document.querySelector('script[type="module"][src*="/assets/"]')?.getAttribute('src');
  const answer = await fetch('./', { cache: 'no-cache', credentials: 'omit' }).catch(() => undefined);
  if (own == null || answer?.ok !== true) return false;
  const served = await answer.text().catch(() => '');
  return served.includes('src="./assets/') && !served.includes(`src="${own}"`);
}
