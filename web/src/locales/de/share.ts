import type { ShareStrings } from '../en/share.ts';

export const shareGerman: ShareStrings = {
  title: 'Per Link teilen',
  intro: (message) =>
    `Alle, die den Link haben und sich hier anmelden können, können dieses Gespräch ${message === '' ? 'bis jetzt' : `bis zu deiner Nachricht „${message}“ und ihrer Antwort`} lesen. Spätere Nachrichten sehen sie nicht. Um auch diese zu teilen, erstelle einen weiteren Link.`,
  linkTitle: (title) => `Der Titel des Links ist „${title}“.`,
  linkContent: (name) =>
    `Der Link zeigt die Fragen, die Antworten, ihre Dateien und deinen Namen, „${name}“. Schritte, Gedanken und Einstellungen zeigt er nicht.`,
  files: (count) => (count === 1 ? 'Diese Datei wird geteilt' : `Diese ${count} Dateien werden geteilt`),
  attachedByYou: 'Von dir angehängt',
  fromAnswer: 'Aus einer Antwort',
  worksFor: 'Der Link gilt',
  days: (count) => (count === 1 ? 'einen Tag' : count === 365 ? 'ein Jahr' : `${count} Tage`),
  createLink: 'Link erstellen',
  chatChanged:
    'Das Gespräch hat sich geändert, seit dieser Dialog geöffnet wurde. Prüfe den Inhalt des Links und erstelle ihn dann noch einmal.',
  link: 'Link',
  copyLink: 'Link kopieren',
  copyNow: 'Kopiere ihn jetzt. Er wird nicht noch einmal angezeigt.',
  yourLinks: 'Alle deine Links',
  noLinks: 'Du teilst keine Gespräche.',
  linkState: (created, until) => `Zeigt das Gespräch, wie es am ${created} war. Gilt bis ${until}.`,
  revoke: 'Entfernen',
  revokeNamed: (title) => `Den Link zu ${title} entfernen`,
  revokeQuestion: (title) => `Den Link zu „${title}“ entfernen? Er funktioniert dann für niemanden mehr.`,
  revoked: (title) => `Der Link zu „${title}“ ist entfernt und funktioniert nicht mehr.`,
  shared: 'Geteiltes Gespräch',
  sharedBy: (name, date) => `Geteilt von ${name} am ${date}`,
  snapshotNote: (date) => `Das ist der damalige Stand des Gesprächs. Der Link gilt bis ${date}.`,
  continueInCopy: 'In einer Kopie weiterführen',
  copyIsPrivate: (name) => `Die Kopie ist privat. ${name} sieht deine Nachrichten darin nicht.`,
  copyContinuesWith: (name, next) => `Du kannst ${name} nicht verwenden. Die Kopie geht mit ${next} weiter.`,
  copying: 'Wird kopiert …',
  filesUnavailable: 'Einige Dateien sind nicht mehr verfügbar. Die Kopie enthält nur ihre Namen.',
  notFound: 'Dieser Link funktioniert nicht mehr',
  notFoundReason:
    'Er wurde entfernt oder ist abgelaufen, oder das Gespräch wurde gelöscht. Bitte die Person, die ihn dir geschickt hat, um einen neuen Link.',
  newConversation: 'Ein neues Gespräch beginnen',
};
