import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { toSnippets } from '../../web/src/code/snippets.ts';

const page = readFileSync(new URL('../../docs/clients.md', import.meta.url), 'utf8');
const snippets = toSnippets({ address: 'http://127.0.0.1:8080', deployment: 'demo' });
const textOf = (name: string): string => snippets.find((snippet) => snippet.name === name)?.text ?? name;

describe('A snippet', () => {
  it.each(['Python', 'Anthropic', 'Codex'])(
    'for %s is the one of docs/clients.md, which is run against each kind of deployment',
    (name) => {
      expect(page).toContain(`\n${textOf(name)}\n`);
    },
  );

  it('keeps odd ids as they are, whatever a shell would make of them', () => {
    const odd = toSnippets({ address: 'https://parley.example/base', deployment: `applications/b/it's $HOME "x"` });
    const [curl] = odd;
    expect(curl?.text).toContain(`"model":"applications/b/it'\\''s $HOME \\"x\\""`);
    expect(curl?.text).toContain('https://parley.example/base/v1/chat/completions');
    expect(odd.find(({ name }) => name === 'Python')?.text).toContain(`model="applications/b/it's $HOME \\"x\\""`);
    expect(odd.find(({ name }) => name === 'Claude Code')?.text).toContain(`ANTHROPIC_MODEL='applications/b/it'\\''s $HOME "x"'`);
  });
});
