import { useEffect } from 'react';
import type { Waiting } from '../../conversation/outbox.ts';
import { usePage } from '../../page/page.tsx';
import { Icon, type IconName } from '../../parts/icon.tsx';
import { focusMessage } from '../focus-message.ts';
import './queue-list.css';
import { useWordsOf } from '../../words/words.tsx';
import { type QueueWords, queueEnglish } from './queue-english.ts';
import { queueFrench } from './queue-french.ts';
import { queueGerman } from './queue-german.ts';
import { queueSpanish } from './queue-spanish.ts';

interface QueueListProps {
  readonly waiting: readonly Waiting[];
  readonly conversationId: string;
  readonly takeBack: (waiting: Waiting) => void;
  readonly isAnswering: boolean;
}

/** Messages that were sent while an answer came, above the one that is being written. */
export function QueueList({ waiting, conversationId, takeBack, isAnswering }: QueueListProps) {
  const words = useQueueWords();
  const { outbox, announce } = usePage();
  const areHeld = waiting.every(({ isHeld }) => isHeld);
  useEffect(() => announce(areHeld ? words.held : words.queued), [areHeld, announce, words]);
  const sendNow = (id: string): void => {
    outbox.sendNow(conversationId, id);
    focusMessage();
  };
  const drop = (id: string): void => {
    outbox.take(conversationId, id);
    focusMessage();
  };
  return (
    <section className={areHeld ? 'queue held' : 'queue'} aria-label={words.label}>
      <p className="small soft">
        <Icon name={areHeld ? 'alert' : 'clock'} />
        {areHeld ? words.held : words.soon}
      </p>
      <ul>
        {waiting.map((each) => (
          <li key={each.id}>
            <span className="queue-text">{toShown(each)}</span>
            <Act icon="edit" name={words.edit} act={() => takeBack(each)} />
            <Act icon="send" name={isAnswering ? words.nowStops : words.now} act={() => sendNow(each.id)} />
            <Act icon="close" name={words.drop} act={() => drop(each.id)} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function Act({ icon, name, act }: { readonly icon: IconName; readonly name: string; readonly act: () => void }) {
  return (
    <button {...{ type: 'button', className: 'icon-button', 'aria-label': name, title: name, onClick: act }}>
      <Icon name={icon} />
    </button>
  );
}

/** What it says, with the names of its files. */
function toShown({ text, attachments }: Waiting): string {
  const files = attachments.map(({ title, type }) => title ?? type ?? '');
  return [text, ...files].filter((part) => part !== '').join(' · ');
}

/** What is said of messages that wait; apart from the other words, as few people ever have one. */
function useQueueWords(): QueueWords {
  return useWordsOf({ en: queueEnglish, de: queueGerman, fr: queueFrench, es: queueSpanish });
}
