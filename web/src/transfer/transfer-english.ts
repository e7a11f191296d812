/** What the dialog for taking conversations along says. */
export const transferEnglish = {
  transferTitle: 'Import and export',
  exportIntro: 'One file with all your conversations, every branch of them. It can be imported here again, into any account.',
  exportAll: 'Export all conversations',
  exporting: 'Reading your conversations…',
  exported: (count: number) => `${count === 1 ? 'One conversation is' : `${count} conversations are`} in the file.`,
  exportMissing: (count: number) =>
    `${count} of them could not be read and ${count === 1 ? 'is' : 'are'} not in it. Try again later.`,
  importIntro:
    'A file of this page, conversations.json out of ChatGPT’s export (unpack the archive first), what Open WebUI exported, or a conversation that LibreChat exported as JSON. What is there already is not doubled.',
  chooseFile: 'Choose a file to import',
  importing: (count: number) => `${count} read…`,
  added: (count: number) => `${count} new`,
  merged: (count: number) => `${count} with further turns`,
  same: (count: number) => `${count} that ${count === 1 ? 'was' : 'were'} here already`,
  refused: (count: number) => `${count} that could not be read: no conversation, empty, or too large`,
  droppedFiles: (count: number) => `${count} files and pictures were left behind: the file has only their names.`,
  droppedSteps: (count: number) => `${count} steps between question and answer were left behind: searches, tools, thoughts.`,
  importTruncated:
    'There are more conversations in the file than are taken at once; those behind the first 50,000 were left out.',
  importStopped: 'Stopped. What was read so far is here.',
  unknownForm: 'This file cannot be imported. It has to be a JSON file of this page, of ChatGPT, of LibreChat or of Open WebUI.',
  tooLarge: 'The file is larger than 1 GB.',
  transferFailed: 'That went wrong. What was read so far is here; try again.',
};

export type TransferStrings = typeof transferEnglish;
