import type { DisplayStrings } from '../en/display.ts';

export const displayGerman: DisplayStrings = {
  textSize: 'Schriftgröße',
  textSizes: { small: 'Klein', medium: 'Mittel', large: 'Groß', largest: 'Sehr groß' },
  density: 'Abstände',
  densities: { roomy: 'Großzügig', compact: 'Kompakt' },
  contrast: 'Kontrast',
  contrasts: { system: 'Wie im System', more: 'Hoch' },
  motion: 'Bewegung',
  motions: { system: 'Wie im System', less: 'Reduziert' },
  notifications: 'Wenn eine Antwort fertig ist',
  notificationsOff: 'Keine Mitteilung',
  notificationsOn: 'Mitteilen',
  notificationsHint: 'Nur wenn du diese Seite gerade nicht ansiehst.',
  notificationsBlocked:
    'Der Browser blockiert Mitteilungen dieser Seite. Erlaube sie in den Browsereinstellungen für diese Website.',
  followUps: 'Anschlussfragen',
  followUpsOff: 'Keine Vorschläge',
  followUpsOn: 'Fragen vorschlagen',
  followUpsHint: (model) => `Nach jeder Antwort schlägt ${model} bis zu drei Fragen vor. Das zählt zu deinem Verbrauch.`,
  dictation: 'Diktat',
  dictationOff: 'Aus',
  dictationOnDevice: 'Auf diesem Gerät',
  dictationOnline: 'Online, falls nötig',
  dictationHints: {
    off: 'Es wird keine Mikrofon-Schaltfläche angezeigt. Du tippst deine Nachrichten.',
    onDevice: 'Neben der Nachricht erscheint ein Mikrofon, wenn dein Browser Sprache auf diesem Gerät in Text umwandeln kann.',
    online:
      'Wenn dein Browser Sprache auf diesem Gerät nicht in Text umwandeln kann, wird deine Sprache an den Hersteller des Browsers gesendet. Diktiere nichts, was der Hersteller nicht hören darf.',
  },
};
