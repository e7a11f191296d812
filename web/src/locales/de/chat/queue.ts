import type { QueueStrings } from '../../en/chat/queue.ts';

export const queueGerman: QueueStrings = {
  label: 'Wartende Nachrichten',
  soon: 'Wird gesendet, sobald diese Antwort fertig ist',
  onHold: 'Nicht gesendet, weil die vorige Antwort nicht vollständig ist',
  queued: 'Deine Nachricht wartet, bis diese Antwort fertig ist.',
  now: 'Jetzt senden',
  nowStops: 'Jetzt senden und die aktuelle Antwort anhalten',
  edit: 'Diese Nachricht bearbeiten',
  drop: 'Nicht senden',
};
