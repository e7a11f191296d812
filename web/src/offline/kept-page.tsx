import { useEffect, useId, useMemo, useState } from 'react';
import { ReadOnlyTurn } from '../chat/turns/read-only-turn.tsx';
import { type Conversation, shownTurns } from '../conversation/conversation.ts';
import { type Database, type Head, openDatabase } from '../conversation/database.ts';
import { createForgetfulChat } from '../conversation/forgetful-chat.ts';
import { findHeads } from '../conversation/library.ts';
import { type Page, PageContext } from '../page/page.tsx';
import { CommandRegistry } from '../palette/command-registry.ts';
import { Icon } from '../parts/icon.tsx';
import { Mark } from '../parts/operator-brand.tsx';
import { Service } from '../service/service.ts';
import { useAway } from '../service/use-away.ts';
import { useLanguage, useWordsOf } from '../words/words.tsx';
import { type KnownUser, readKnownUser } from './known-user.ts';
import '../chat/turns/thread.css';
import '../chat/turns/turns.css';
import './kept.css';
import { type KeptWords, keptEnglish } from './kept-english.ts';
import { keptFrench } from './kept-french.ts';
import { keptGerman } from './kept-german.ts';
import { keptSpanish } from './kept-spanish.ts';

/** Turns that are drawn before anybody scrolls. */
const drawnTurns = 6;

/** Conversations of the one who was here last, without a sign-in: they are read, and nothing is changed. */
export function KeptPage({ leave }: { readonly leave: () => void }) {
  const [known] = useState(readKnownUser);
  return known && <Reader {...{ known, leave }} />;
}

function Reader({ known, leave }: { readonly known: KnownUser; readonly leave: () => void }) {
  const words = useKeptWords();
  const { words: common } = useLanguage();
  const page = useReadOnlyPage(known, leave);
  const isAway = useAway(page.service);
  const [id, setId] = useState<string>();
  const { heads, open } = useKeptChats(known.user, id);
  return (
    <PageContext value={page}>
      <main className={id === undefined ? 'kept' : 'kept reading-one'} aria-busy={heads === undefined}>
        <h1 className="heard-only">{open === undefined ? common.conversations : open.title || common.untitled}</h1>
        <nav className="kept-list" aria-label={common.conversations}>
          <p className="wordmark">
            <Mark size={26} />
            {common.product}
          </p>
          <div className="kept-note" role="status">
            <p>{isAway ? words.away(!navigator.onLine) : words.back}</p>
            <button type="button" className={isAway ? 'button' : 'button primary'} onClick={leave}>
              {isAway ? common.close : common.signIn}
            </button>
          </div>
          {heads !== undefined && <Heads {...{ heads, id }} choose={setId} />}
        </nav>
        <div className="content" aria-busy={id !== undefined && open === undefined}>
          <button type="button" className="quiet-link narrow-only" onClick={() => setId(undefined)}>
            <Icon name="left" />
            {common.conversations}
          </button>
          {id === undefined ? <p className="soft kept-hint">{words.choose}</p> : open && <Kept conversation={open} />}
        </div>
      </main>
    </PageContext>
  );
}

interface HeadsProps {
  readonly heads: readonly Head[];
  readonly id: string | undefined;
  readonly choose: (id: string) => void;
}

function Heads({ heads, id, choose }: HeadsProps) {
  const words = useKeptWords();
  const { words: common } = useLanguage();
  const [query, setQuery] = useState('');
  const search = useId();
  const found = findHeads(heads, query);
  if (heads.length === 0) return <p className="soft small">{words.none}</p>;
  return (
    <>
      <div className="search">
        <Icon name="search" />
        <label className="heard-only" htmlFor={search}>
          {common.searchConversations}
        </label>
        <input
          {...{ id: search, type: 'search', value: query, placeholder: common.searchConversations }}
          onChange={({ target }) => setQuery(target.value)}
        />
      </div>
      {found.length === 0 && <p className="soft small">{common.nothingFound(query.trim())}</p>}
      <ul className="kept-heads">
        {found.map((head) => (
          <li key={head.id}>
            <button type="button" aria-current={head.id === id} onClick={() => choose(head.id)}>
              {head.title || common.untitled}
            </button>
          </li>
        ))}
      </ul>
    </>
  );
}

function Kept({ conversation }: { readonly conversation: Conversation }) {
  const { words } = useLanguage();
  return (
    <div className="thread-frame">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls can be reached by the keyboard */}
      <section className="thread" aria-label={words.conversation} tabIndex={0}>
        <div className="turns">
          <p className="kept-title" aria-hidden="true">
            {conversation.title || words.untitled}
          </p>
          {shownTurns(conversation).map((turn, at) => (
            <ReadOnlyTurn key={turn.id} turn={turn} isLate={at >= drawnTurns} />
          ))}
        </div>
      </section>
    </div>
  );
}

/** What the views of a conversation need to know, with nobody signed in: nothing can be asked, and nothing is written. */
function useReadOnlyPage({ user, deployments }: KnownUser, leave: () => void): Page {
  return useMemo(() => {
    const service = new Service({ show: async () => ({}), renew: async () => false });
    service.reach.noteAway();
    return {
      ...{ service, deployments, user, sharesChats: false, isAdmin: false, isStorageGone: false },
      ...createForgetfulChat({ service, nextFrame: () => undefined }),
      ...{ refresh: async () => undefined, place: { at: 'new' }, go: () => undefined, announce: () => undefined },
      ...{ signOut: leave, offerUndo: () => undefined, commands: new CommandRegistry() },
    };
  }, [user, deployments, leave]);
}

interface KeptChats {
  /** Those that can be read here, the latest first; undefined until they are known. */
  readonly heads: readonly Head[] | undefined;
  /** The one that is open; undefined while it is read, and where none is. */
  readonly open: Conversation | undefined;
}

/** What the browser has of a user’s conversations, and one of them. */
function useKeptChats(user: string, id: string | undefined): KeptChats {
  const [database, setDatabase] = useState<Database>();
  const [heads, setHeads] = useState<readonly Head[]>();
  const [open, setOpen] = useState<Conversation>();
  useEffect(() => {
    const read = async (): Promise<void> => {
      const opened = await openDatabase(user);
      const [all, kept] = await Promise.all([opened.heads(), opened.keptIds()]);
      setDatabase(opened);
      setHeads(all.filter((head) => kept.has(head.id)).sort((one, other) => other.updatedAtMs - one.updatedAtMs));
    };
    void read().catch(() => setHeads([]));
  }, [user]);
  useEffect(() => {
    let isGone = false;
    setOpen(undefined);
    if (id !== undefined) void database?.read(id).then((read) => !isGone && setOpen(read));
    return () => {
      isGone = true;
    };
  }, [database, id]);
  return { heads, open };
}

/** What is said where conversations are read without a network; apart from the other words, so that only who reads so loads it. */
function useKeptWords(): KeptWords {
  return useWordsOf({ en: keptEnglish, de: keptGerman, fr: keptFrench, es: keptSpanish });
}
