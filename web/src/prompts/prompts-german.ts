import type { PromptsStrings } from './prompts-english.ts';

export const promptsGerman: PromptsStrings = {
  prompts: 'Deine Prompts',
  promptsHint:
    'Heb Texte auf, die du oft brauchst. Ein / am Anfang einer Nachricht holt einen davon; Tab führt durch seine Lücken, wie {{Stadt}}.',
  promptName: 'Name',
  promptText: 'Text',
  managePrompts: 'Prompts anlegen und ändern …',
  bringIn: 'Aus einer Datei holen …',
  saveAll: 'Alle als Datei speichern',
  saveOne: (name) => `„${name}“ als Datei speichern`,
  broughtIn: (count) => (count === 1 ? 'Ein Prompt ist dazugekommen.' : `${count} Prompts sind dazugekommen.`),
  noPromptsIn: (file) => `${file} enthält keine lesbaren Prompts.`,
};
