import { type FormEvent, useEffect, useId, useRef, useState } from 'react';
import { usePage } from '../page/page.tsx';
import { toHash } from '../page/place.ts';
import { CopyButton } from '../parts/copy-button.tsx';
import { Trouble } from '../parts/trouble.tsx';
import { useLoaded } from '../parts/use-loaded.ts';
import { useShownDialog } from '../parts/use-shown-dialog.ts';
import { type Fault, faultOf } from '../service/fault.ts';
import { useLanguage, useWords } from '../words/words.tsx';
import { type ChatShare, ChatShares, type ShareableFile, toPersonName } from './chat-shares.ts';
import { useShareWords } from './share-words.ts';
import '../parts/question-dialog.css';
import './share.css';

interface ShareDialogProps {
  /** Undefined: only what is shared already is shown. */
  readonly conversation: string | undefined;
  readonly close: () => void;
}

/** Makes a link to a conversation, and shows those there are. */
export function ShareDialog({ conversation, close }: ShareDialogProps) {
  const words = useShareWords();
  const { close: closeWord } = useWords();
  const { service } = usePage();
  const { dialog, leave } = useShownDialog(close);
  const title = useId();
  const [shares] = useState(() => new ChatShares(service));
  const [load] = useState(() => () => shares.list());
  const { value: listed, fault, reload } = useLoaded(load);
  return (
    <dialog {...{ ref: dialog, className: 'question-dialog share', 'aria-labelledby': title, closedby: 'any' }}>
      <h2 id={title}>{conversation === undefined ? words.yours : words.title}</h2>
      {conversation !== undefined && <NewLink {...{ shares, conversation }} made={reload} />}
      <Trouble fault={fault} />
      {listed !== undefined && <ShareList {...{ shares, listed }} isAlone={conversation === undefined} changed={reload} />}
      <div className="row end">
        <button type="button" className="button" onClick={leave}>
          {closeWord}
        </button>
      </div>
    </dialog>
  );
}

const choices = [1, 7, 30, 90, 365];
const usualDays = 30;

interface NewLinkProps {
  readonly shares: ChatShares;
  readonly conversation: string;
  readonly made: () => void;
}

/** What is shared, for how long, and then the link. */
function NewLink({ shares, conversation, made }: NewLinkProps) {
  const words = useShareWords();
  const { library, user } = usePage();
  const [days, setDays] = useState(usualDays);
  const [link, setLink] = useState('');
  const [isMaking, setIsMaking] = useState(false);
  const [fault, setFault] = useState<Fault>();
  const field = useId();
  const [load] = useState(() => async () => {
    await library.bringUp(conversation);
    return shares.files(conversation);
  });
  const { value: files, fault: filesFault } = useLoaded(load);
  const make = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    setFault(undefined);
    setIsMaking(true);
    try {
      await library.bringUp(conversation);
      const { token } = await shares.share(conversation, days);
      setLink(`${location.origin}${location.pathname}${toHash({ at: 'shared', token })}`);
      made();
    } catch (thrown) {
      setFault(faultOf(thrown));
    } finally {
      setIsMaking(false);
    }
  };
  return (
    <>
      <p>{words.intro}</p>
      <p className="soft small">{words.what(toPersonName(user))}</p>
      {files !== undefined && <SharedFiles files={files} />}
      {link === '' ? (
        <form className="share-new" onSubmit={(event) => void make(event)}>
          <label htmlFor={field}>{words.worksFor}</label>
          <select id={field} value={days} onChange={({ target }) => setDays(Number(target.value))}>
            {choices.map((count) => (
              <option key={count} value={count}>
                {words.days(count)}
              </option>
            ))}
          </select>
          <button type="submit" className="button primary" disabled={isMaking || files === undefined}>
            {words.make}
          </button>
        </form>
      ) : (
        <MadeLink link={link} />
      )}
      <Trouble fault={fault ?? filesFault} />
    </>
  );
}

function SharedFiles({ files }: { readonly files: readonly ShareableFile[] }) {
  const words = useShareWords();
  if (files.length === 0) return <p className="soft small">{words.noFiles}</p>;
  return (
    <div className="share-files">
      <h3>{words.files(files.length)}</h3>
      <ul>
        {files.map(({ path, title, from }) => (
          <li key={path}>
            <span>{title}</span>
            <span className="soft small">{from === 'question' ? words.attachedByYou : words.fromAnswer}</span>
          </li>
        ))}
      </ul>
    </div>
  );
}

function MadeLink({ link }: { readonly link: string }) {
  const words = useShareWords();
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => input.current?.select(), []);
  return (
    <>
      <div className="share-link">
        <input {...{ ref: input, readOnly: true, value: link, 'aria-label': words.link }} />
        <CopyButton text={() => link} label={words.copyLink} />
      </div>
      <p className="soft small">{words.once}</p>
    </>
  );
}

interface ShareListProps {
  readonly shares: ChatShares;
  readonly listed: readonly ChatShare[];
  /** Whether nothing else is shown beside it. */
  readonly isAlone: boolean;
  readonly changed: () => void;
}

/** The user's links; each can be revoked. */
function ShareList({ shares, listed, isAlone, changed }: ShareListProps) {
  const words = useShareWords();
  const { language, words: common } = useLanguage();
  const { announce } = usePage();
  const [fault, setFault] = useState<Fault>();
  const date = new Intl.DateTimeFormat(language, { dateStyle: 'medium' });
  const revoke = async (id: string): Promise<void> => {
    setFault(undefined);
    await shares.revoke(id).then(
      () => announce(words.revoked),
      (thrown: unknown) => {
        const caught = faultOf(thrown);
        if (caught.code !== 'share_not_found') setFault(caught);
      },
    );
    changed();
  };
  if (listed.length === 0) return isAlone ? <p className="soft">{words.none}</p> : null;
  return (
    <>
      {!isAlone && <h3>{words.yours}</h3>}
      <ul className="share-list">
        {listed.map(({ id, chat, title, expiresAtMs }) => (
          <li key={id}>
            <a href={toHash({ at: 'conversation', id: chat })}>{title || common.untitled}</a>
            <span className="soft small">{words.until(date.format(expiresAtMs))}</span>
            <button
              {...{ type: 'button', className: 'button slim', 'aria-label': words.revokeOf(title || common.untitled) }}
              onClick={() => void revoke(id)}
            >
              {words.revoke}
            </button>
          </li>
        ))}
      </ul>
      <Trouble fault={fault} />
    </>
  );
}
