import type { TransferStrings } from '../en/transfer.ts';

export const transferGerman: TransferStrings = {
  transferTitle: 'Importieren und exportieren',
  exportIntro:
    'Eine Datei mit allen deinen Gesprächen und allen Versionen ihrer Nachrichten. Du kannst sie hier wieder importieren, in jedes Konto.',
  exportAll: 'Alle Gespräche exportieren',
  exporting: 'Deine Gespräche werden gelesen …',
  exported: (count) => `${count === 1 ? 'Ein Gespräch ist' : `${count} Gespräche sind`} in der Datei.`,
  exportMissing: (count) =>
    `${count === 1 ? 'Ein weiteres ließ' : `${count} weitere ließen`} sich nicht lesen und ${count === 1 ? 'fehlt' : 'fehlen'} darin. Versuche es später noch einmal.`,
  importIntro:
    'Eine Datei von dieser Seite, conversations.json aus einem ChatGPT-Export (entpacke das Archiv vorher), eine Datei, die Open WebUI exportiert hat, oder ein Gespräch, das LibreChat als JSON exportiert hat. Gespräche, die schon hier sind, werden nicht verdoppelt.',
  chooseFile: 'Datei zum Importieren wählen',
  importing: (count) => `Bisher ${count} ${count === 1 ? 'Gespräch' : 'Gespräche'} gelesen …`,
  added: (count) => `${count} ${count === 1 ? 'neues Gespräch' : 'neue Gespräche'}`,
  merged: (count) => `${count}, ${count === 1 ? 'das weitere Nachrichten bekam' : 'die weitere Nachrichten bekamen'}`,
  same: (count) => `${count}, ${count === 1 ? 'das' : 'die'} schon da ${count === 1 ? 'war' : 'waren'}`,
  rejected: (count) =>
    `${count}, ${count === 1 ? 'das' : 'die'} nicht gelesen werden ${count === 1 ? 'konnte' : 'konnten'}: kein Gespräch, leer oder zu groß`,
  droppedFiles: (count) =>
    count === 1
      ? '1 Datei oder Bild wurde nicht importiert, weil die importierte Datei nur den Namen enthält.'
      : `${count} Dateien und Bilder wurden nicht importiert, weil die importierte Datei nur ihre Namen enthält.`,
  droppedSteps: (count) =>
    `${count} ${count === 1 ? 'Schritt' : 'Schritte'} zwischen Frage und Antwort ${count === 1 ? 'wurde' : 'wurden'} nicht importiert: Suchen, Werkzeuge, Gedanken.`,
  importTruncated: 'Die Datei enthält zu viele Gespräche. Nur die ersten 50.000 wurden gelesen.',
  importStopped: 'Angehalten. Die bisher gelesenen Gespräche sind importiert.',
  unknownFormat:
    'Diese Datei kann nicht importiert werden. Wähle eine JSON-Datei von dieser Seite, ChatGPT, LibreChat oder Open WebUI.',
  tooLarge: 'Die Datei ist größer als 1 GB und kann nicht importiert werden. Wähle eine kleinere Datei.',
  importFailed: 'Der Import ist fehlgeschlagen. Die bisher gelesenen Gespräche sind importiert. Versuche es noch einmal.',
  exportFailed: 'Der Export ist fehlgeschlagen. Prüfe die Verbindung und versuche es noch einmal.',
};
