/** Texts of the import and export dialog. */
export const transferEnglish = {
  transferTitle: 'Import and export',
  exportIntro: 'One file with all your chats and all versions of their messages. You can import it here again, into any account.',
  exportAll: 'Export all chats',
  exporting: 'Reading your chats…',
  exported: (count: number) => `${count === 1 ? 'One chat is' : `${count} chats are`} in the file.`,
  exportMissing: (count: number) =>
    `${count} more could not be read and ${count === 1 ? 'is' : 'are'} not in the file. Try again later.`,
  importIntro:
    'A file from this page, conversations.json from a ChatGPT export (unpack the archive first), a file that Open WebUI exported, or a chat that LibreChat exported as JSON. Chats that are already here are not duplicated.',
  chooseFile: 'Choose a file to import',
  importing: (count: number) => `${count} ${count === 1 ? 'chat' : 'chats'} read so far…`,
  added: (count: number) => `${count} new ${count === 1 ? 'chat' : 'chats'}`,
  merged: (count: number) => `${count} that got more messages`,
  same: (count: number) => `${count} that ${count === 1 ? 'was' : 'were'} already here`,
  rejected: (count: number) => `${count} that could not be read: not a chat, empty, or too large`,
  droppedFiles: (count: number) =>
    count === 1
      ? '1 file or picture was not imported, because the imported file contains only its name.'
      : `${count} files and pictures were not imported, because the imported file contains only their names.`,
  droppedSteps: (count: number) =>
    `${count} ${count === 1 ? 'step' : 'steps'} between question and answer ${count === 1 ? 'was' : 'were'} not imported: searches, tools, thoughts.`,
  importTruncated: 'The file contains too many chats. Only the first 50,000 were read.',
  importStopped: 'Stopped. The chats read so far are imported.',
  unknownFormat: 'This file cannot be imported. Choose a JSON file from this page, ChatGPT, LibreChat, or Open WebUI.',
  tooLarge: 'The file is larger than 1 GB and cannot be imported. Choose a smaller file.',
  importFailed: 'The import failed. The chats read so far are imported. Try again.',
  exportFailed: 'The export failed. Check the connection and try again.',
};

export type TransferStrings = typeof transferEnglish;
