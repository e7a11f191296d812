import type { ShareStrings } from './share-english.ts';

export const shareGerman: ShareStrings = {
  title: 'Per Link teilen',
  intro:
    'Wer den Link hat und sich hier anmelden kann, liest dieses Gespräch, wie es jetzt ist. Was du später schreibst, wird nicht geteilt.',
  what: (name) =>
    `Zu sehen sind die Fragen, die Antworten, ihre Dateien und dein Name, „${name}“. Schritte, Gedanken und Einstellungen nicht.`,
  files: (count) => (count === 1 ? 'Diese Datei wird geteilt' : `Diese ${count} Dateien werden geteilt`),
  noFiles: 'Es werden keine Dateien geteilt.',
  attachedByYou: 'Von dir angehängt',
  fromAnswer: 'Aus einer Antwort',
  worksFor: 'Der Link gilt',
  days: (count) => (count === 1 ? 'einen Tag' : count === 365 ? 'ein Jahr' : `${count} Tage`),
  make: 'Link erstellen',
  link: 'Link',
  copyLink: 'Link kopieren',
  once: 'Kopiere ihn jetzt: Er wird nur hier angezeigt.',
  yours: 'Deine Links',
  noLinks: 'Zurzeit teilst du nichts.',
  until: (date) => `bis ${date}`,
  revoke: 'Widerrufen',
  revokeNamed: (title) => `Den Link zu ${title} widerrufen`,
  revoked: 'Der Link ist widerrufen. Er führt nirgends mehr hin.',
  shared: 'Geteiltes Gespräch',
  sharedBy: (name, date) => `Geteilt von ${name} am ${date}`,
  asThen: (date) => `Du liest es, wie es damals war. Der Link gilt bis ${date}.`,
  goOn: 'In einer Kopie weiterführen',
  goOnWhat: (name) => `Die Kopie gehört dir allein: ${name} sieht nicht, was du darin schreibst.`,
  copying: 'Wird kopiert…',
  filesUnavailable: 'Einige Dateien waren nicht mehr zu lesen. In der Kopie stehen nur ihre Namen.',
  notFound: 'Dieser Link führt nirgends mehr hin',
  notFoundReason:
    'Er wurde widerrufen, ist abgelaufen, oder das Gespräch wurde gelöscht. Bitte den um einen neuen, von dem du ihn hast.',
  newConversation: 'Ein neues Gespräch beginnen',
};
