import { type FormEvent, useEffect, useId, useRef, useState } from 'react';
import { usePage } from '../page/page.tsx';
import { CopyButton } from '../parts/copy-button.tsx';
import { Trouble } from '../parts/trouble.tsx';
import { useLoaded } from '../parts/use-loaded.ts';
import { type Fault, faultOf } from '../service/fault.ts';
import { useLanguage } from '../words/words.tsx';
import { useCodeWords } from './code-words.ts';
import type { KeyRight, UserKey, UserKeys } from './user-keys.ts';

export type MadeKey = UserKey & { readonly key: string };

interface OwnKeysProps {
  readonly keys: UserKeys;
  readonly right: KeyRight;
  /** The one that was made here, as long as it is there. */
  readonly made: MadeKey | undefined;
  readonly setMade: (made: MadeKey | undefined) => void;
}

/** Makes a key for the user's programs, and shows those there are. */
export function OwnKeys({ keys, right, made, setMade }: OwnKeysProps) {
  const words = useCodeWords();
  const title = useId();
  const [load] = useState(() => () => keys.list());
  const { value: listed, fault, reload } = useLoaded(load);
  const inForce = listed?.filter(({ expiresAt }) => expiresAt > Date.now()).length ?? 0;
  const takeMade = (fresh: MadeKey): void => {
    setMade(fresh);
    reload();
  };
  const noteDeleted = (id: string): void => {
    if (id === made?.id) setMade(undefined);
    reload();
  };
  return (
    <section className="own-keys" aria-labelledby={title}>
      <h3 id={title}>{words.own}</h3>
      {made === undefined && inForce < right.keys && <NewKey {...{ keys, right }} made={takeMade} />}
      {made === undefined && inForce >= right.keys && <p className="soft small">{words.full(right.keys)}</p>}
      {made !== undefined && <Shown made={made} />}
      <Trouble fault={fault} />
      {listed !== undefined && listed.length > 0 && <KeyList {...{ keys, listed }} deleted={noteDeleted} />}
    </section>
  );
}

const usualDays = 30;
const choices = [1, 7, usualDays, 90, 365];

interface NewKeyProps {
  readonly keys: UserKeys;
  readonly right: KeyRight;
  readonly made: (made: MadeKey) => void;
}

/** What it is called, and for how long it works. */
function NewKey({ keys, right: { maxDays }, made }: NewKeyProps) {
  const words = useCodeWords();
  const [name, setName] = useState('');
  const [days, setDays] = useState(Math.min(usualDays, maxDays));
  const [isMaking, setIsMaking] = useState(false);
  const [fault, setFault] = useState<Fault>();
  const nameField = useId();
  const daysField = useId();
  const make = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    setFault(undefined);
    setIsMaking(true);
    try {
      made(await keys.make({ ...(name.trim() !== '' && { name: name.trim() }), days }));
    } catch (thrown) {
      setFault(faultOf(thrown));
      setIsMaking(false);
    }
  };
  return (
    <>
      <form className="new-key" onSubmit={(event) => void make(event)}>
        <label htmlFor={nameField}>{words.keyName}</label>
        <input {...{ id: nameField, value: name, maxLength: 100 }} onChange={({ target }) => setName(target.value)} />
        <label htmlFor={daysField}>{words.worksFor}</label>
        <select id={daysField} value={days} onChange={({ target }) => setDays(Number(target.value))}>
          {[...choices.filter((count) => count < maxDays), maxDays].map((count) => (
            <option key={count} value={count}>
              {words.days(count)}
            </option>
          ))}
        </select>
        <button type="submit" className="button primary" disabled={isMaking}>
          {words.makeKey}
        </button>
      </form>
      <Trouble fault={fault} />
    </>
  );
}

function Shown({ made: { key } }: { readonly made: MadeKey }) {
  const words = useCodeWords();
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => {
    input.current?.focus();
    input.current?.select();
  }, []);
  return (
    <>
      <div className="made-key">
        <input {...{ ref: input, readOnly: true, value: key, 'aria-label': words.madeKey }} />
        <CopyButton text={() => key} label={words.copyOwnKey} />
      </div>
      <p className="soft small">{words.once}</p>
    </>
  );
}

interface KeyListProps {
  readonly keys: UserKeys;
  readonly listed: readonly UserKey[];
  readonly deleted: (id: string) => void;
}

/** The user's keys, with their last use; each can be deleted. */
function KeyList({ keys, listed, deleted }: KeyListProps) {
  const words = useCodeWords();
  const { language } = useLanguage();
  const { announce } = usePage();
  const [fault, setFault] = useState<Fault>();
  const date = new Intl.DateTimeFormat(language, { dateStyle: 'medium' });
  const moment = new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeStyle: 'short' });
  const remove = async (id: string): Promise<void> => {
    setFault(undefined);
    await keys.delete(id).then(
      () => announce(words.keyDeleted),
      (thrown: unknown) => {
        const caught = faultOf(thrown);
        if (caught.code !== 'key_not_found') setFault(caught);
      },
    );
    deleted(id);
  };
  return (
    <>
      <ul className="key-list">
        {listed.map(({ id, name, prefix, lastUsedAt, expiresAt }) => (
          <li key={id}>
            <span>
              {name} <code>{prefix}…</code>
            </span>
            <span className="soft small">
              {lastUsedAt === null ? words.neverUsed : words.lastUsed(moment.format(lastUsedAt))}
              {' · '}
              {expiresAt > Date.now() ? words.until(date.format(expiresAt)) : words.expired(date.format(expiresAt))}
            </span>
            <button
              {...{ type: 'button', className: 'button slim', 'aria-label': words.deleteKeyOf(name || prefix) }}
              onClick={() => void remove(id)}
            >
              {words.deleteKey}
            </button>
          </li>
        ))}
      </ul>
      <Trouble fault={fault} />
    </>
  );
}
