import type { PromptsStrings } from '../en/prompts.ts';

export const promptsGerman: PromptsStrings = {
  prompts: 'Deine Prompts',
  promptsHint:
    'Speichere Texte, die du oft verwendest. Tippe / am Anfang einer Nachricht, um einen einzufügen. Tab führt durch seine Lücken, wie {{Stadt}}.',
  promptName: 'Name',
  promptText: 'Text',
  managePrompts: 'Prompts verwalten …',
  shared: 'Für dich freigegeben',
  copyShared: 'Zu deinen Prompts kopieren',
  importPrompts: 'Aus einer Datei importieren …',
  exportAll: 'Alle als Datei speichern',
  exportOne: (name) => `„${name}“ als Datei speichern`,
  imported: (count) => (count === 1 ? 'Ein Prompt wurde hinzugefügt.' : `${count} Prompts wurden hinzugefügt.`),
  noPromptsIn: (file) => `${file} enthält keine lesbaren Prompts.`,
};
