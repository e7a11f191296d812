import fastCheck from 'fast-check';
import '#test/same-cases.ts';
import { describe, expect, it } from 'vitest';
import { parseFileLocation, parseLocation, resolveReference, toReference } from './resource-location.ts';

const place = { kind: 'files', bucket: 'b', path: 'a/x y' };

describe('file references', () => {
  it('parse to the location that they were created from, for any names', () => {
    const segment = fastCheck.string({ unit: 'grapheme', minLength: 1, maxLength: 12 });
    fastCheck.assert(
      fastCheck.property(segment, fastCheck.array(segment, { minLength: 1, maxLength: 4 }), (bucket, segments) => {
        const place = { bucket, path: segments.join('/') };
        fastCheck.pre(parseFileLocation([bucket, ...segments].map(encodeURIComponent).join('/'))?.path === place.path);
        const reference = toReference(place);
        expect(reference).toMatch(/^files\/[\w!'()*.~%/-]+$/);
        expect(parseFileLocation(reference.slice('files/'.length))).toEqual({ kind: 'files', ...place });
      }),
    );
  });

  it.each(['b', 'b/', 'b/a/', '/a', 'b//a', 'b/..', '../a', 'b/%2e%2e/a', 'b/%00', 'b/%', 'b/%C3', `b/${'a'.repeat(256)}`])(
    'cannot be %s',
    (encoded) => expect(parseFileLocation(encoded)).toBeUndefined(),
  );

  it.each([
    ['b', ''],
    ['b/', ''],
    ['b/a/', 'a/'],
    ['b/a%2Fc/', 'a/c/'],
  ])('of folders can be %s', (encoded, path) =>
    expect(parseLocation('files', encoded)).toEqual({ kind: 'files', bucket: 'b', path }),
  );
});

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
])('resolveReference() returns the resource for %j', (url) => {
  expect(resolveReference(url)).toEqual(place);
});

it.each([
  'https://example.com/v1/files/b/a',
  'data:text/plain,files/b/a',
  'mailto:files/b/a',
  'shared-chats/x/files/0',
  'a.txt',
  '',
  'http://[',
])('resolveReference() finds no resource in %j', (url) => {
  expect(resolveReference(url)).toBe('elsewhere');
});

it.each(['files/b/%00', 'files/b/%', 'files//x', `x${'/..'.repeat(9_000)}/files/b/a`])(
  'resolveReference() returns "malformed" for %j',
  (url) => {
    expect(resolveReference(url)).toBe('malformed');
  },
);

it('resolveReference() accepts folders and other kinds', () => {
  expect(resolveReference('files/b/a/')).toEqual({ kind: 'files', bucket: 'b', path: 'a/' });
  expect(resolveReference('conversations/b/x')).toEqual({ kind: 'conversations', bucket: 'b', path: 'x' });
});
