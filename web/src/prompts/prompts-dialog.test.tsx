import { expect, it } from 'vitest';
import { findUnusedName, readPromptFile, toPromptFile } from './prompts-dialog.tsx';

const prompts = [{ name: 'Greeting', content: 'Hello {{name}}' }];

it('reads the prompts of an exported file', async () => {
  expect(readPromptFile(await toPromptFile(prompts).text())).toEqual(prompts);
});

it.each([
  ['Open WebUI', [{ command: '/greeting', title: 'Greeting', content: 'Hello {{name}}', user: {} }]],
  ['Open WebUI, newer', [{ command: 'greeting', name: 'Greeting', content: 'Hello {{name}}', is_active: true }]],
  ['LibreChat', { promptGroups: [{ name: 'Greeting', productionPrompt: { prompt: 'Hello {{name}}', type: 'text' } }] }],
  ['DIAL', { version: 4, prompts: [{ id: 'x', folderId: 'y', name: 'Greeting', content: 'Hello {{name}}' }], folders: [] }],
])('reads a file of %s', (_name, file) => {
  expect(readPromptFile(JSON.stringify(file))).toEqual(prompts);
});

it.each(['', 'text', '{}', '[]', '[5]', '[{"name":"x"}]', '{"prompts":{}}'])(
  'returns undefined for a file without prompts: %s',
  (text) => {
    expect(readPromptFile(text)).toBeUndefined();
  },
);

it('adds a number to a used name within the maximum length', () => {
  expect(findUnusedName('a', new Set(['a', 'a (2)']))).toBe('a (3)');
  expect(findUnusedName('x'.repeat(60), new Set(['x'.repeat(60)]))).toHaveLength(60);
});
