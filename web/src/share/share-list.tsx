import { useState } from 'react';
import { usePage } from '../page/page.tsx';
import { toHash } from '../page/place.ts';
import { Trouble } from '../parts/trouble.tsx';
import { type Fault, faultOf } from '../service/fault.ts';
import { useLanguage } from '../words/words.tsx';
import type { ChatShare, ChatShares } from './chat-shares.ts';
import { useShareWords } from './share-words.ts';

interface ShareListProps {
  readonly shares: ChatShares;
  readonly listed: readonly ChatShare[];
  /** Whether nothing else is shown beside it. */
  readonly isAlone: boolean;
  readonly changed: () => void;
}

/** The user's links; each can be revoked. */
export function ShareList({ shares, listed, isAlone, changed }: ShareListProps) {
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
