import type { MemoryStrings } from '../en/memory.ts';

export const memoryGerman: MemoryStrings = {
  hint: 'Was soll jeder Chat über dich wissen? Schreib es hier einmal auf, etwa deine Arbeit, deine Sprache oder wie du Antworten magst. Nur du kannst es sehen. Temporäre Chats und Anwendungen anderer Benutzer erhalten es nicht.',
  notes: 'Notizen über dich',
  use: 'Die Notizen in Chats verwenden',
  isFull: (max) => `Die Notizen können höchstens ${max} Zeichen haben.`,
  saved: 'Gespeichert. Die nächste Nachricht jedes Chats verwendet es.',
};
