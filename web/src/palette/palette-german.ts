import type { PaletteWords } from './palette-english.ts';

export const paletteGerman: PaletteWords = {
  title: 'Alles finden',
  placeholder: 'Ein Gespräch, ein Modell, eine Seite oder was zu tun ist',
  found: (count) => (count === 1 ? 'Eines gefunden' : `${count} gefunden`),
  nothing: (query) => `Nichts heißt hier „${query}“.`,
  action: 'Aktion',
  view: 'Gehe zu',
  deployment: 'Sprich mit',
  conversation: 'Gespräch',

  shortcuts: 'Tastenkürzel',
  everywhere: 'Überall',
  inMessage: 'Beim Schreiben einer Nachricht',
  inLists: 'In Listen',
  find: 'Alles finden, überall hin',
  begin: 'Ein neues Gespräch beginnen',
  list: 'Diese Tastenkürzel zeigen',
  or: 'oder',
  leave: 'Schließen, was über der Seite liegt',
  send: 'Die Nachricht senden',
  line: 'Eine neue Zeile beginnen',
  editLast: 'Die letzte Frage ändern, wenn die Nachricht leer ist',
  prompts: 'Einen deiner Prompts verwenden, am Anfang einer Nachricht',
  neighbours: 'Zum Eintrag davor oder dahinter',
  ends: 'Zum ersten oder letzten',
  open: 'Öffnen',
};
