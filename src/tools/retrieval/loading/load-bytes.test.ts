import { expect, it } from 'vitest';
import { loadBytes } from './load-bytes.ts';
import { defaultDocumentBounds } from './load-document.ts';

const count = 200_000;

it.each([
  ['rows.json', JSON.stringify(Array.from({ length: count }, (_, id) => ({ id, name: 'row' }))), 'table'],
  ['fence.md', `\`\`\`\n${'line\n'.repeat(count)}`, 'text'],
])('loads %s with more parts than a call can have arguments', async (name, text, kind) => {
  const { blocks } = await loadBytes(Buffer.from(text), { name, contentType: '' }, defaultDocumentBounds);
  expect(blocks.map((block) => block.kind)).toEqual([kind]);
});
