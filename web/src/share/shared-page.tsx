import { useCallback, useEffect, useRef, useState } from 'react';
import { ReadOnlyTurn } from '../chat/read-only-turn.tsx';
import { usePage } from '../page/page.tsx';
import { toHash } from '../page/place.ts';
import { NamedPage } from '../parts/named-page.tsx';
import { Trouble } from '../parts/trouble.tsx';
import { useLoaded } from '../parts/use-loaded.ts';
import { type Fault, faultOf } from '../service/fault.ts';
import { useLanguage } from '../words/words.tsx';
import { ChatShares, type SharedChat, toPersonName } from './chat-shares.ts';
import { useShareWords } from './share-words.ts';
import { toCopy } from './to-copy.ts';
import './share.css';

/** Turns that are drawn before anybody scrolls. */
const drawnTurns = 6;

/** A conversation that somebody shared: read only, and the way to go on from it. */
export function SharedPage({ token, openMenu }: { readonly token: string; readonly openMenu: () => void }) {
  const { shared: name } = useShareWords();
  const { service } = usePage();
  const load = useCallback(() => new ChatShares(service).open(token), [service, token]);
  const { value, fault } = useLoaded(load);
  const isGone = fault?.code === 'share_not_found' || fault?.code === 'route_not_found';
  return (
    <NamedPage name={name} title={value?.title || name} isBusy={value === undefined && fault === undefined} openMenu={openMenu}>
      {isGone && <Gone />}
      {fault !== undefined && !isGone && (
        <div className="sheet">
          <Trouble fault={fault} />
        </div>
      )}
      {value !== undefined && (
        <>
          <SharedThread shared={value} />
          <div className="below">
            <WayOn shared={value} />
          </div>
        </>
      )}
    </NamedPage>
  );
}

function Gone() {
  const words = useShareWords();
  return (
    <div className="sheet">
      <h1>{words.gone}</h1>
      <p>{words.goneWhy}</p>
      <p>
        <a href={toHash({ at: 'new' })}>{words.newConversation}</a>
      </p>
    </div>
  );
}

function SharedThread({ shared }: { readonly shared: SharedChat }) {
  const words = useShareWords();
  const { language, words: common } = useLanguage();
  const date = new Intl.DateTimeFormat(language, { dateStyle: 'long' });
  const { title, turns, createdAtMs, expiresAtMs } = shared;
  return (
    <div className="thread-frame">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls can be reached by the keyboard */}
      <section className="thread" aria-label={common.conversation} tabIndex={0}>
        <div className="turns">
          <div className="shared-head">
            <h1>{title || common.untitled}</h1>
            <p>{words.sharedBy(toPersonName(shared.from), date.format(createdAtMs))}</p>
            <p className="soft small">{words.asThen(date.format(expiresAtMs))}</p>
          </div>
          {turns.map((turn, at) => (
            <ReadOnlyTurn key={turn.id} turn={turn} isLate={at >= drawnTurns} />
          ))}
        </div>
      </section>
    </div>
  );
}

/** Makes a conversation of the user's own of it. */
function WayOn({ shared }: { readonly shared: SharedChat }) {
  const words = useShareWords();
  const { service, library, go, announce } = usePage();
  const [isCopying, setIsCopying] = useState(false);
  const [fault, setFault] = useState<Fault>();
  const leaving = useRef(new AbortController());
  useEffect(() => {
    const here = new AbortController();
    leaving.current = here;
    return () => here.abort();
  }, []);
  const goOn = async (): Promise<void> => {
    const { signal } = leaving.current;
    setIsCopying(true);
    setFault(undefined);
    try {
      const { conversation, lost } = await toCopy(service, shared, signal);
      library.put(conversation, 'now');
      if (lost > 0) announce(words.filesLost);
      go({ at: 'conversation', id: conversation.id });
    } catch (thrown) {
      if (signal.aborted) return;
      setFault(faultOf(thrown));
      setIsCopying(false);
    }
  };
  return (
    <div className="shared-end">
      <button {...{ type: 'button', className: 'button primary', disabled: isCopying }} onClick={() => void goOn()}>
        {isCopying ? words.copying : words.goOn}
      </button>
      <p className="soft small">{words.goOnWhat(toPersonName(shared.from))}</p>
      <Trouble fault={fault} />
    </div>
  );
}
