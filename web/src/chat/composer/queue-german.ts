import type { QueueStrings } from './queue-english.ts';

export const queueGerman: QueueStrings = {
  label: 'Wartende Nachrichten',
  soon: 'Wird gesendet, sobald diese Antwort fertig ist',
  onHold: 'Nicht gesendet: die Antwort davor war nicht vollständig',
  queued: 'Deine Nachricht wartet, bis diese Antwort fertig ist.',
  now: 'Jetzt senden',
  nowStops: 'Jetzt senden: das beendet die Antwort, die gerade kommt',
  edit: 'Diese Nachricht ändern',
  drop: 'Nicht senden',
};
