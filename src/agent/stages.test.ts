import { expect, test } from 'vitest';
import { toArgumentsMarkdown, toResultMarkdown } from './stages.ts';

test('a code block is one that its content cannot end', () => {
  expect(toResultMarkdown('a ```` b', false, 10)).toContain('\n`````\na ```` b\n`````\n');
});

test('content with any number of code marks can be shown', () => {
  const marks = '` '.repeat(300_000);
  expect(toArgumentsMarkdown(marks)).toContain(`\`\`\`json\n${marks}`);
});
