import type { CodeStrings } from '../en/code.ts';

export const codeGerman: CodeStrings = {
  title: (name) => `${name} im Code verwenden`,
  intro:
    'Auch Programme und Coding-Agenten können es verwenden, wenn sich bei ihnen Adresse, Schlüssel und Modell einstellen lassen.',
  address: 'Adresse',
  model: 'Modell',
  key: 'Schlüssel',
  keyHint:
    'Bitte deinen Administrator um einen Schlüssel. Anfragen mit dem Schlüssel zählen zum Verbrauch und zu den Limits seines Teams.',
  ownKey: 'Der Schlüssel, mit dem du angemeldet bist, geht auch.',
  copyOwnKey: 'Meinen Schlüssel kopieren',
  copyAddress: 'Adresse kopieren',
  copyModel: 'Modell kopieren',
  client: 'Verwenden mit',
  setKey: 'Lege den Schlüssel als Umgebungsvariable fest:',
  inFile: (file) => `Speichere die Zeilen unten in ${file}.`,
  createKeyHint:
    'Erstelle unten deinen eigenen Schlüssel. Ein Programm, das ihn verwendet, handelt als du: Seine Anfragen zählen zu deinen Limits, und es hat nicht mehr Zugriff als du.',
  yourKey: 'Dein eigener Schlüssel',
  keyName: 'Name (optional)',
  worksFor: 'Er gilt für',
  days: (count) => (count === 1 ? 'einen Tag' : count === 365 ? 'ein Jahr' : `${count} Tage`),
  createKey: 'Schlüssel erstellen',
  newKey: 'Dein neuer Schlüssel',
  copyNow: 'Kopiere ihn jetzt. Er wird nicht noch einmal angezeigt. Die Zeilen unten enthalten ihn schon.',
  keyLimit: (count) =>
    count === 1
      ? 'Du kannst einen Schlüssel haben und hast ihn schon. Lösche ihn, um einen anderen zu erstellen.'
      : `Du hast ${count} Schlüssel, das ist die Höchstzahl. Lösche einen, um einen anderen zu erstellen.`,
  lastUsed: (when) => `zuletzt verwendet ${when}`,
  neverUsed: 'noch nicht verwendet',
  validUntil: (date) => `bis ${date}`,
  expired: (date) => `abgelaufen am ${date}`,
  deleteKey: 'Löschen',
  deleteKeyNamed: (name) => `Schlüssel ${name} löschen`,
  keyDeleted: 'Der Schlüssel ist gelöscht. Programme, die ihn verwenden, haben keinen Zugriff mehr.',
  copyExport: 'Zeile mit dem Schlüssel kopieren',
};
