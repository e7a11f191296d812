import type { MemoryStrings } from '../en/memory.ts';

export const memoryGerman: MemoryStrings = {
  hint: (visibility) =>
    `Was soll jedes Gespräch über dich wissen? Schreib es hier einmal auf, etwa deine Arbeit, deine Sprache oder wie du Antworten magst. ${visibility} Temporäre Gespräche und Anwendungen anderer Benutzer erhalten es nicht.`,
  notes: 'Notizen über dich',
  use: 'Die Notizen in Gesprächen verwenden',
  isFull: (max) => `Die Notizen können höchstens ${max} Zeichen haben.`,
  saved: 'Gespeichert. Die nächste Nachricht jedes Gesprächs verwendet es.',
};
