import { expect, test } from 'vitest';
import { toArgumentsMarkdown, toResultMarkdown } from './stages.ts';

test('toResultMarkdown uses a fence that its content cannot close', () => {
  expect(toResultMarkdown('a ```` b', false, 10)).toContain('\n`````\na ```` b\n`````\n');
});

test('toArgumentsMarkdown accepts content with any number of backticks', () => {
  const marks = '` '.repeat(300_000);
  expect(toArgumentsMarkdown(marks)).toContain(`\`\`\`json\n${marks}`);
});
