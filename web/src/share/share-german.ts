import type { ShareWords } from './share-english.ts';

export const shareGerman: ShareWords = {
  title: 'Per Link teilen',
  intro:
    'Wer den Link hat und sich hier anmelden kann, liest dieses Gespräch, wie es jetzt ist. Was Sie später schreiben, wird nicht geteilt.',
  what: (name) =>
    `Zu sehen sind die Fragen, die Antworten und ihre Dateien, und dass sie von ${name} sind. Schritte, Gedanken und Einstellungen nicht.`,
  worksFor: 'Der Link gilt',
  days: (count) => (count === 1 ? 'einen Tag' : count === 365 ? 'ein Jahr' : `${count} Tage`),
  make: 'Link erstellen',
  link: 'Link',
  copyLink: 'Link kopieren',
  once: 'Kopieren Sie ihn jetzt: Er wird nur hier angezeigt.',
  yours: 'Ihre Links',
  none: 'Zurzeit teilen Sie nichts.',
  until: (date) => `bis ${date}`,
  revoke: 'Widerrufen',
  revokeOf: (title) => `Den Link zu ${title} widerrufen`,
  revoked: 'Der Link ist widerrufen. Er führt nirgends mehr hin.',
  shared: 'Geteiltes Gespräch',
  sharedBy: (name, date) => `Geteilt von ${name} am ${date}`,
  asThen: (date) => `Sie lesen es, wie es damals war. Der Link gilt bis ${date}.`,
  goOn: 'In einer Kopie weiterführen',
  goOnWhat: (name) => `Die Kopie gehört Ihnen allein: ${name} sieht nicht, was Sie darin schreiben.`,
  copying: 'Wird kopiert…',
  filesLost: 'Einige Dateien waren nicht mehr zu lesen. In der Kopie stehen nur ihre Namen.',
  gone: 'Dieser Link führt nirgends mehr hin',
  goneWhy:
    'Er wurde widerrufen, ist abgelaufen, oder das Gespräch wurde gelöscht. Bitten Sie um einen neuen, wo Sie ihn herhaben.',
  newConversation: 'Ein neues Gespräch beginnen',
};
