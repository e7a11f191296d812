import { useEffect, useMemo, useState } from 'react';
import { ReadOnlyThread } from '../chat/turns/read-only-thread.tsx';
import { type Conversation, listVisibleTurns } from '../conversation/conversation.ts';
import { type ConversationSummary, type Database, openDatabase } from '../conversation/database.ts';
import { findSummaries } from '../conversation/library.ts';
import { createMemoryChat } from '../conversation/memory-chat.ts';
import { CommandRegistry } from '../palette/command-registry.ts';
import { Icon } from '../parts/icon.tsx';
import { Logo } from '../parts/operator-brand.tsx';
import { SearchField } from '../parts/search-field.tsx';
import { useIsUnreachable } from '../service/reachability.ts';
import { Service } from '../service/service.ts';
import { type Page, PageContext } from '../shell/page.tsx';
import { useLanguage, useLocalizedStrings } from '../strings/strings.tsx';
import { type KnownUser, readKnownUser } from './known-user.ts';
import '../chat/turns/thread.css';
import './offline.css';
import { offlineGerman } from '../locales/de/offline.ts';
import { type OfflineStrings, offlineEnglish } from '../locales/en/offline.ts';
import { offlineSpanish } from '../locales/es/offline.ts';
import { offlineFrench } from '../locales/fr/offline.ts';

/** Shows the chats of the last user without a sign-in, read-only. */
export function OfflinePage({ close }: { readonly close: () => void }) {
  const [knownUser] = useState(readKnownUser);
  return knownUser && <Reader {...{ knownUser, close }} />;
}

function Reader({ knownUser, close }: { readonly knownUser: KnownUser; readonly close: () => void }) {
  const strings = useOfflineStrings();
  const { strings: common } = useLanguage();
  const page = useReadOnlyPage(knownUser, close);
  const isUnreachable = useIsUnreachable(page.service.reachability);
  const [id, setId] = useState<string>();
  const { summaries, chat } = useOfflineChats(knownUser.user, id);
  return (
    <PageContext value={page}>
      <main className={id === undefined ? 'offline-page' : 'offline-page reading'} aria-busy={summaries === undefined}>
        <h1 className="visually-hidden">{chat === undefined ? common.conversations : chat.title || common.untitled}</h1>
        <nav className="offline-sidebar" aria-label={common.conversations}>
          <p className="wordmark">
            <Logo size={26} />
            {common.product}
          </p>
          <div className="offline-status" role="status">
            <p>{isUnreachable ? strings.unreachable(!navigator.onLine) : strings.reachable}</p>
            <button type="button" className={isUnreachable ? 'button' : 'button primary'} onClick={close}>
              {isUnreachable ? common.close : common.signIn}
            </button>
          </div>
          {summaries !== undefined && <ConversationList {...{ summaries, id }} choose={setId} />}
        </nav>
        <div className="content" aria-busy={id !== undefined && chat === undefined}>
          <button type="button" className="quiet-link narrow-only" onClick={() => setId(undefined)}>
            <Icon name="left" />
            {common.conversations}
          </button>
          {id === undefined ? <p className="soft offline-hint">{strings.choose}</p> : chat && <OfflineThread chat={chat} />}
        </div>
      </main>
    </PageContext>
  );
}

interface ConversationListProps {
  readonly summaries: readonly ConversationSummary[];
  readonly id: string | undefined;
  readonly choose: (id: string) => void;
}

function ConversationList({ summaries, id, choose }: ConversationListProps) {
  const strings = useOfflineStrings();
  const { strings: common } = useLanguage();
  const [query, setQuery] = useState('');
  const matches = findSummaries(summaries, query);
  if (summaries.length === 0) return <p className="soft small">{strings.noConversations}</p>;
  return (
    <>
      <SearchField label={common.searchConversations} value={query} onChange={setQuery} />
      {matches.length === 0 && <p className="soft small">{common.nothingFound(query.trim())}</p>}
      <ul className="offline-conversations">
        {matches.map((summary) => (
          <li key={summary.id}>
            <button type="button" aria-current={summary.id === id} onClick={() => choose(summary.id)}>
              {summary.title || common.untitled}
            </button>
          </li>
        ))}
      </ul>
    </>
  );
}

function OfflineThread({ chat }: { readonly chat: Conversation }) {
  const { strings } = useLanguage();
  const header = (
    <p className="offline-title" aria-hidden="true">
      {chat.title || strings.untitled}
    </p>
  );
  return <ReadOnlyThread turns={listVisibleTurns(chat)} header={header} />;
}

/** Returns the page context for reading chats without a sign-in. It cannot send or write anything. */
function useReadOnlyPage({ user, deployments }: KnownUser, close: () => void): Page {
  return useMemo(() => {
    const service = new Service({ getHeaders: async () => ({}), renew: async () => false });
    service.reachability.reportUnreachable();
    return {
      ...{
        service,
        deployments,
        user,
        sharesChats: false,
        storesFiles: false,
        hasAddons: false,
        roles: [],
        isAdmin: false,
        canAudit: false,
        isStorageUnavailable: false,
      },
      ...createMemoryChat({ service, nextFrame: () => undefined }),
      ...{ refresh: async () => undefined, route: { at: 'new' }, go: () => undefined, announce: () => undefined },
      ...{ signOut: close, offerUndo: () => undefined, commands: new CommandRegistry() },
    };
  }, [user, deployments, close]);
}

interface OfflineChats {
  /** Readable chats, the latest first. Undefined until they are loaded. */
  readonly summaries: readonly ConversationSummary[] | undefined;
  /** The open chat. Undefined while it loads, and if no chat is open. */
  readonly chat: Conversation | undefined;
}

/** Loads the chats of a user in this browser, and the open chat. */
function useOfflineChats(user: string, id: string | undefined): OfflineChats {
  const [database, setDatabase] = useState<Database>();
  const [summaries, setSummaries] = useState<readonly ConversationSummary[]>();
  const [chat, setChat] = useState<Conversation>();
  useEffect(() => {
    const load = async (): Promise<void> => {
      const userDatabase = await openDatabase(user);
      const [all, storedIds] = await Promise.all([userDatabase.listSummaries(), userDatabase.listStoredIds()]);
      setDatabase(userDatabase);
      setSummaries(
        all.filter((summary) => storedIds.has(summary.id)).sort((left, right) => right.updatedAtMs - left.updatedAtMs),
      );
    };
    void load().catch(() => setSummaries([]));
  }, [user]);
  useEffect(() => {
    let isCanceled = false;
    setChat(undefined);
    if (id !== undefined) void database?.readConversation(id).then((stored) => !isCanceled && setChat(stored));
    return () => {
      isCanceled = true;
    };
  }, [database, id]);
  return { summaries, chat };
}

/** Texts of the offline page, in a separate chunk that only this page loads. */
function useOfflineStrings(): OfflineStrings {
  return useLocalizedStrings({ en: offlineEnglish, de: offlineGerman, fr: offlineFrench, es: offlineSpanish });
}
