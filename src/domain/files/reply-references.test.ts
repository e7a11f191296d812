import { expect, it } from 'vitest';
import { toReferencedPlace } from './reply-references.ts';

const place = { kind: 'files', bucket: 'b', path: 'a/x y' };

it.each([
  'files/b/a/x%20y',
  'files/b/a/x y',
  ' files/b/a/x%20y',
  'fi\tles/b/a/x%20y',
  './files/b/a/x%20y',
  'FILES/b/a/x%20y',
  'files/c/../b/a/x%20y',
  'files/c/%2e%2E/b/a/x%20y',
  'files\\b\\a\\x%20y',
  'files/b/a/x%20y#page=2',
  'files/b/a/x%20y?download',
  '/v1/files/b/a/x%20y',
  '/parley/v1/files/b/a/x%20y',
  'http:files/b/a/x%20y',
])('reads the resource that %j names', (url) => {
  expect(toReferencedPlace(url)).toEqual(place);
});

it.each([
  'https://example.com/v1/files/b/a',
  'data:text/plain,files/b/a',
  'mailto:files/b/a',
  'shared-chats/x/files/0',
  'a.txt',
  '',
  'http://[',
])('finds no resource in %j', (url) => {
  expect(toReferencedPlace(url)).toBe('elsewhere');
});

it.each(['files/b/%00', 'files/b/%', 'files//x', `x${'/..'.repeat(9_000)}/files/b/a`])(
  'takes %j for a malformed reference',
  (url) => {
    expect(toReferencedPlace(url)).toBe('malformed');
  },
);

it('reads folders and other kinds', () => {
  expect(toReferencedPlace('files/b/a/')).toEqual({ kind: 'files', bucket: 'b', path: 'a/' });
  expect(toReferencedPlace('conversations/b/x')).toEqual({ kind: 'conversations', bucket: 'b', path: 'x' });
});
