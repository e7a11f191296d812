import type { CodeWords } from './code-english.ts';

export const codeGerman: CodeWords = {
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
  way: 'Fragen mit',
  setKey: 'Der Schlüssel kommt aus der Umgebung:',
  inFile: (file) => `In ${file}.`,
};
