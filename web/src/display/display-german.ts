import type { DisplayStrings } from './display-english.ts';

export const displayGerman: DisplayStrings = {
  textSize: 'Schriftgröße',
  textSizes: { small: 'Klein', medium: 'Mittel', large: 'Groß', largest: 'Sehr groß' },
  density: 'Abstände',
  densities: { roomy: 'Großzügig', compact: 'Kompakt' },
  contrast: 'Kontrast',
  contrasts: { system: 'Wie im System', more: 'Hoch' },
  motion: 'Bewegung',
  motions: { system: 'Wie im System', less: 'Reduziert' },
  notices: 'Wenn eine Antwort da ist',
  noticesOff: 'Nichts sagen',
  noticesOn: 'Mitteilen',
  noticesWhen: 'Nur wenn du gerade etwas anderes ansiehst.',
  noticesRefused: 'Der Browser lässt Mitteilungen dieser Seite nicht zu. Erlaube sie in seinen Einstellungen für diese Website.',
  followUps: 'Was du als Nächstes fragen kannst',
  followUpsOff: 'Nichts vorschlagen',
  followUpsOn: 'Fragen vorschlagen',
  followUpsMean: (model) => `Nach jeder Antwort wird ${model} um bis zu drei Fragen gebeten. Das verbraucht Token von dir.`,
  dictation: 'Diktat',
  dictationOff: 'Aus',
  dictationMachine: 'Auf diesem Gerät',
  dictationMaker: 'Auch beim Hersteller des Browsers',
  dictationMeans: {
    off: 'Nachrichten werden getippt.',
    machine: 'Neben der Nachricht steht ein Mikrofon, wenn dein Browser Sprache selbst in Text wandelt.',
    maker:
      'Wo dein Browser es nicht selbst kann, geht das Gesagte an seinen Hersteller, der es in Text wandelt. Diktiere nicht, was er nicht hören darf.',
  },
};
