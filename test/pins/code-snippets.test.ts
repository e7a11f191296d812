import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { toSnippets } from '../../web/src/code/snippets.ts';

const page = readFileSync(new URL('../../docs/clients.md', import.meta.url), 'utf8');
const snippets = toSnippets({ address: 'http://127.0.0.1:8080', deployment: 'demo' });
const getText = (name: string): string => snippets.find((snippet) => snippet.name === name)?.text ?? name;

describe('a code snippet', () => {
  it.each(['Python', 'Anthropic', 'Codex'])('equals the tested snippet in docs/clients.md for %s', (name) => {
    expect(page).toContain(`\n${getText(name)}\n`);
  });

  it('quotes special characters in IDs for the shell and for Python', () => {
    const specialSnippets = toSnippets({ address: 'https://parley.example/base', deployment: `applications/b/it's $HOME "x"` });
    const [curl] = specialSnippets;
    expect(curl?.text).toContain(`"model":"applications/b/it'\\''s $HOME \\"x\\""`);
    expect(curl?.text).toContain('https://parley.example/base/v1/chat/completions');
    expect(specialSnippets.find(({ name }) => name === 'Python')?.text).toContain(`model="applications/b/it's $HOME \\"x\\""`);
    expect(specialSnippets.find(({ name }) => name === 'Claude Code')?.text).toContain(
      `ANTHROPIC_MODEL='applications/b/it'\\''s $HOME "x"'`,
    );
  });
});
