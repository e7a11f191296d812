import type { MemoryStrings } from '../en/memory.ts';

export const memoryGerman: MemoryStrings = {
  hint: (visibility) =>
    `Was soll jedes Gespräch über dich wissen, etwa deine Arbeit, deine Sprache oder wie du Antworten magst? Schreib es hier einmal auf. ${visibility} Temporäre Gespräche und Anwendungen anderer Benutzer erhalten es nicht.`,
  text: 'Text des Gedächtnisses',
  use: 'Das Gedächtnis in Gesprächen verwenden',
  limitReached: (max) => `Das Gedächtnis kann höchstens ${max} Zeichen haben.`,
  saved: 'Gespeichert. Das gilt ab der nächsten Nachricht jedes Gesprächs.',
};
