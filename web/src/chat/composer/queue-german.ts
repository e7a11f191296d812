import type { QueueWords } from './queue-english.ts';

export const queueGerman: QueueWords = {
  label: 'Wartende Nachrichten',
  soon: 'Wird gesendet, sobald diese Antwort fertig ist',
  held: 'Nicht gesendet: die Antwort davor war nicht vollständig',
  queued: 'Deine Nachricht wartet, bis diese Antwort fertig ist.',
  now: 'Jetzt senden',
  nowStops: 'Jetzt senden: das beendet die Antwort, die gerade kommt',
  edit: 'Diese Nachricht ändern',
  drop: 'Nicht senden',
};
