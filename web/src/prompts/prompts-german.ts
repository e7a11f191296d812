import type { PromptsWords } from './prompts-english.ts';

export const promptsGerman: PromptsWords = {
  prompts: 'Deine Prompts',
  promptsHint:
    'Heb Texte auf, die du oft brauchst. Ein / am Anfang einer Nachricht holt einen davon; Tab führt durch seine Lücken, wie {{Stadt}}.',
  promptName: 'Name',
  promptText: 'Text',
  managePrompts: 'Prompts anlegen und ändern …',
};
