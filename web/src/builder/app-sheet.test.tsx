import { expect, it } from 'vitest';
import { toFieldLabel } from './app-sheet.tsx';

const group = (properties: object) => ({ type: 'object', additionalProperties: false, properties });
const text = (title: string) => ({ type: 'string', title });
const server = group({ name: text('Name'), info: { ...group({ url: text('Address') }), title: 'Server' } });
const schema = group({
  instructions: text('Instructions'),
  servers: { type: 'array', title: 'MCP servers', items: { anyOf: [server, { type: 'null' }] } },
  free: { title: 'Free', type: 'object' },
});
const value = { servers: [{ name: 'Board', info: { url: '' } }, { info: {} }, 7] };
const toTitle = (part: { title?: unknown }, name: string) => String(part.title ?? name);

it.each([
  ['instructions', 'Instructions'],
  ['servers[0].info.url', 'MCP servers › Board › Address'],
  ['servers[0].info', 'MCP servers › Board › Server'],
  ['servers[1]', 'MCP servers › 2'],
  ['servers[2].info.url', 'MCP servers › 3 › info.url'],
  ['free.a["b c"]', 'Free › a.b c'],
  ['__proto__.x', '__proto__.x'],
  ['', ''],
])('returns the label of the field “%s”: “%s”', (field, label) => {
  expect(toFieldLabel(field, { schema, value, toTitle })).toBe(label);
});
