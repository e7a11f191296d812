import type { TransferStrings } from './transfer-english.ts';

export const transferGerman: TransferStrings = {
  transferTitle: 'Importieren und exportieren',
  exportIntro:
    'Eine Datei mit allen deinen Gesprächen und allen ihren Zweigen. Sie lässt sich hier wieder importieren, in jedes Konto.',
  exportAll: 'Alle Gespräche exportieren',
  exporting: 'Deine Gespräche werden gelesen…',
  exported: (count) => `${count === 1 ? 'Ein Gespräch ist' : `${count} Gespräche sind`} in der Datei.`,
  exportMissing: (count) =>
    `${count} davon ${count === 1 ? 'ließ' : 'ließen'} sich nicht lesen und ${count === 1 ? 'fehlt' : 'fehlen'} darin. Versuch es später noch einmal.`,
  importIntro:
    'Eine Datei dieser Seite, conversations.json aus dem Export von ChatGPT (das Archiv vorher entpacken), ein Export von Open WebUI oder ein Gespräch, das LibreChat als JSON exportiert hat. Was schon da ist, wird nicht verdoppelt.',
  chooseFile: 'Datei zum Importieren wählen',
  importing: (count) => `${count} gelesen…`,
  added: (count) => `${count} neu`,
  merged: (count) => `${count} mit weiteren Beiträgen`,
  same: (count) => `${count}, ${count === 1 ? 'das' : 'die'} schon da ${count === 1 ? 'war' : 'waren'}`,
  refused: (count) => `${count}, die nicht zu lesen waren: kein Gespräch, leer oder zu groß`,
  droppedFiles: (count) => `${count} Dateien und Bilder blieben zurück: In der Datei stehen nur ihre Namen.`,
  droppedSteps: (count) => `${count} Schritte zwischen Frage und Antwort blieben zurück: Suchen, Werkzeuge, Gedanken.`,
  importTruncated: 'In der Datei sind mehr Gespräche, als auf einmal genommen werden; die hinter den ersten 50.000 blieben weg.',
  importStopped: 'Angehalten. Was bis dahin gelesen war, ist hier.',
  unknownForm:
    'Diese Datei hat keine Form, die sich importieren lässt: eine JSON-Datei dieser Seite, von ChatGPT, von LibreChat oder von Open WebUI.',
  tooLarge: 'Die Datei ist größer als 1 GB.',
  transferFailed: 'Das ging schief. Was bis dahin gelesen war, ist hier; versuch es noch einmal.',
};
