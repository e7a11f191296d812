import { useEffect } from 'react';
import type { QueuedMessage } from '../../conversation/outbox.ts';
import { Icon, IconButton } from '../../parts/icon.tsx';
import { usePage } from '../../shell/page.tsx';
import { focusMessage } from '../focus-message.ts';
import './queue-list.css';
import { queueGerman } from '../../locales/de/chat/queue.ts';
import { type QueueStrings, queueEnglish } from '../../locales/en/chat/queue.ts';
import { queueSpanish } from '../../locales/es/chat/queue.ts';
import { queueFrench } from '../../locales/fr/chat/queue.ts';
import { useLocalizedStrings } from '../../strings/strings.tsx';

interface QueueListProps {
  readonly messages: readonly QueuedMessage[];
  readonly conversationId: string;
  readonly editQueued: (message: QueuedMessage) => void;
  readonly isAnswering: boolean;
}

/** Messages that wait for the current answer to end, above the message input. */
export function QueueList({ messages, conversationId, editQueued, isAnswering }: QueueListProps) {
  const strings = useQueueStrings();
  const { outbox, announce } = usePage();
  const areHeld = messages.every(({ isHeld }) => isHeld);
  useEffect(() => announce(areHeld ? strings.onHold : strings.queued), [areHeld, announce, strings]);
  const sendNow = (id: string): void => {
    outbox.sendNow(conversationId, id);
    focusMessage();
  };
  const drop = (id: string): void => {
    outbox.remove(conversationId, id);
    focusMessage();
  };
  return (
    <section className="queue" aria-label={strings.label}>
      <p className="small soft">
        <Icon name={areHeld ? 'alert' : 'clock'} />
        {areHeld ? strings.onHold : strings.soon}
      </p>
      <ul>
        {messages.map((message) => (
          <li key={message.id}>
            <span className="queue-text">{toPreview(message)}</span>
            <IconButton icon="edit" label={strings.edit} onClick={() => editQueued(message)} />
            <IconButton icon="send" label={isAnswering ? strings.nowStops : strings.now} onClick={() => sendNow(message.id)} />
            <IconButton icon="close" label={strings.drop} onClick={() => drop(message.id)} />
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Returns the text and the names of the files. */
function toPreview({ text, attachments }: QueuedMessage): string {
  const files = attachments.map(({ title, type }) => title ?? type ?? '');
  return [text, ...files].filter((part) => part !== '').join(' · ');
}

/** Texts of the queue, in a separate chunk because few users see a queue. */
function useQueueStrings(): QueueStrings {
  return useLocalizedStrings({ en: queueEnglish, de: queueGerman, fr: queueFrench, es: queueSpanish });
}
