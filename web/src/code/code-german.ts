import type { CodeStrings } from './code-english.ts';

export const codeGerman: CodeStrings = {
  title: (name) => `${name} im Code verwenden`,
  intro: 'Auch Programme und Coding-Agenten, die sich Adresse, Schlüssel und Modell einstellen lassen, können es fragen.',
  address: 'Adresse',
  model: 'Modell',
  key: 'Schlüssel',
  keyHint: 'Schlüssel geben die aus, die diesen Dienst betreiben. Was ein Programm damit fragt, zählt für dessen Projekt.',
  ownKey: 'Der Schlüssel, mit dem du angemeldet bist, geht auch.',
  copyOwnKey: 'Meinen Schlüssel kopieren',
  copyAddress: 'Adresse kopieren',
  copyModel: 'Modell kopieren',
  client: 'Fragen mit',
  setKey: 'Der Schlüssel kommt aus der Umgebung:',
  inFile: (file) => `In ${file}.`,
  keyBelow:
    'Erstelle dir unten einen eigenen. Er steht für dich: Was ein Programm damit fragt, zählt für dich, und er öffnet nicht mehr, als du darfst.',
  yourKey: 'Dein eigener Schlüssel',
  keyName: 'Name, falls du magst',
  worksFor: 'Er gilt für',
  days: (count) => (count === 1 ? 'einen Tag' : count === 365 ? 'ein Jahr' : `${count} Tage`),
  makeKey: 'Schlüssel erstellen',
  newKey: 'Dein neuer Schlüssel',
  once: 'Kopiere ihn jetzt: Er wird nur hier angezeigt. In den Zeilen unten steht er schon.',
  full: (count) =>
    count === 1
      ? 'Du darfst einen Schlüssel haben, und den hast du. Lösche ihn, um einen neuen zu erstellen.'
      : `Du hast ${count} Schlüssel, mehr dürfen es nicht sein. Lösche einen, um einen neuen zu erstellen.`,
  lastUsed: (when) => `zuletzt verwendet ${when}`,
  neverUsed: 'noch nicht verwendet',
  until: (date) => `bis ${date}`,
  expired: (date) => `abgelaufen am ${date}`,
  deleteKey: 'Löschen',
  deleteKeyNamed: (name) => `Schlüssel ${name} löschen`,
  keyDeleted: 'Der Schlüssel ist gelöscht. Programme, die ihn senden, werden ab jetzt abgewiesen.',
  copyExport: 'Zeile mit dem Schlüssel kopieren',
};
