import { describe, expect, it } from 'vitest';
import { patchGroup, patchUser } from './patch.ts';

const tooMany = expect.objectContaining({ members: { scimType: 'tooMany' } });
const toNumbers = (count: number) => Array.from({ length: count }, (_, index) => index);
const toAttributes = (count: number) => Object.fromEntries(toNumbers(count).map((number) => [`a${number}`, number]));

describe('patchUser', () => {
  it('adds only new items to a list, regardless of the order of their members', () => {
    const user = { emails: [{ type: 'work', value: 'a' }] };
    const value = [
      { value: 'a', type: 'work' },
      { type: 'home', value: 'b' },
    ];
    expect(patchUser(user, [{ op: 'add', path: 'emails', value }])).toEqual({ emails: [user.emails[0], value[1]] });
  });

  it.each([
    ['attributes in one value', [{ value: toAttributes(101) }]],
    ['attributes of an extension', [{ value: { 'urn:example:2.0:User': toAttributes(101) } }]],
    ['operations', toNumbers(101).map(() => ({ path: 'a', value: 1 }))],
    ['added items', [{ path: 'list', value: toNumbers(52) }]],
    ['compared items', [{ path: 'long[type eq "work"].value', value: 1 }]],
  ])('rejects more %s than its bound', (_name, operations) => {
    const user = { list: toNumbers(49), long: toNumbers(101) };
    const patch = () =>
      patchUser(
        user,
        operations.map((operation) => ({ op: 'add', path: undefined, ...operation })),
      );
    expect(patch).toThrow(tooMany);
  });

  it('replaces a long list', () => {
    const value = toNumbers(5000);
    expect(patchUser({ list: toNumbers(5000) }, [{ op: 'replace', path: 'list', value }])).toEqual({ list: value });
  });

  it.each([
    'name.familyName',
    'urn:example:2.0:User:manager',
    'emails[type eq "work"]',
    'emails[type eq "work"].value',
    'title[type eq "work"]',
    'title.part',
  ])('changes nothing if it removes an attribute that the user does not have: %s', (path) => {
    const user = { title: 'Countess' };
    expect(patchUser(user, [{ op: 'remove', path, value: undefined }])).toEqual(user);
  });

  it('removes a part of an attribute, an attribute of an extension, and selected items', () => {
    const user = {
      name: { givenName: 'Ada', familyName: 'L' },
      'urn:example:2.0:User': { a: 1, b: 2 },
      emails: [{ type: 'work' }],
    };
    const paths = ['NAME.familyname', 'urn:example:2.0:User:B', 'emails[type eq "work"]'];
    const removals = paths.map((path) => ({ op: 'remove', path, value: undefined }) as const);
    expect(patchUser(user, removals)).toEqual({ name: { givenName: 'Ada' }, 'urn:example:2.0:User': { a: 1 }, emails: [] });
  });
});

describe('patchGroup', () => {
  it('changes its name and members, and ignores attributes that a group does not store', () => {
    const value = { DisplayName: 'Editors', id: 'other', ...toAttributes(500), members: [{ value: 'ada' }] };
    expect(patchGroup({ id: 'g', displayName: 'Writers' }, [{ op: 'replace', path: undefined, value }])).toEqual({
      attributes: { id: 'g', displayName: 'Editors' },
      members: [{ op: 'set', userIds: ['ada'] }],
    });
  });

  it('rejects more attributes than its bound', () => {
    expect(() => patchGroup({}, [{ op: 'add', path: undefined, value: toAttributes(1001) }])).toThrow(tooMany);
  });

  it('rejects a path into its name', () => {
    expect(() => patchGroup({}, [{ op: 'add', path: 'displayName.first', value: 'x' }])).toThrow('no parts');
  });
});
