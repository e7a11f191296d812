import fastCheck from 'fast-check';
import '#test/same-cases.ts';
import { describe, expect, it } from 'vitest';
import { toFilePlace, toReference } from './file-references.ts';
import { toPlace } from './resource-place.ts';

describe('a reference', () => {
  it('is read back as the place it was made of, whatever the names are', () => {
    const segment = fastCheck.string({ unit: 'grapheme', minLength: 1, maxLength: 12 });
    fastCheck.assert(
      fastCheck.property(segment, fastCheck.array(segment, { minLength: 1, maxLength: 4 }), (bucket, segments) => {
        const place = { bucket, path: segments.join('/') };
        fastCheck.pre(toFilePlace([bucket, ...segments].map(encodeURIComponent).join('/'))?.path === place.path);
        const reference = toReference(place);
        expect(reference).toMatch(/^files\/[\w!'()*.~%/-]+$/);
        expect(toFilePlace(reference.slice('files/'.length))).toEqual({ kind: 'files', ...place });
      }),
    );
  });

  it.each(['b', 'b/', 'b/a/', '/a', 'b//a', 'b/..', '../a', 'b/%2e%2e/a', 'b/%00', 'b/%', 'b/%C3', `b/${'a'.repeat(256)}`])(
    'is never %s',
    (encoded) => expect(toFilePlace(encoded)).toBeUndefined(),
  );

  it.each([
    ['b', ''],
    ['b/', ''],
    ['b/a/', 'a/'],
    ['b/a%2Fc/', 'a/c/'],
  ])('of a folder is %s', (encoded, path) => expect(toPlace('files', encoded)).toEqual({ kind: 'files', bucket: 'b', path }));
});
