import { useState } from 'react';
import { usePage } from '../page/page.tsx';
import { Trouble } from '../parts/trouble.tsx';
import { type Fault, faultOf } from '../service/fault.ts';
import { useLanguage } from '../words/words.tsx';
import { useCodeWords } from './code-words.ts';
import type { UserKey, UserKeys } from './user-keys.ts';

interface KeyListProps {
  readonly keys: UserKeys;
  readonly listed: readonly UserKey[];
  readonly deleted: (id: string) => void;
}

/** The user's keys, with their last use; each can be deleted. */
export function KeyList({ keys, listed, deleted }: KeyListProps) {
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
