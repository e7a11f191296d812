import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { ParleyError } from '#contract/errors/errors.ts';
import { toCaller } from './token-verifier.ts';

const createSource = (entry: object = {}, more: object = {}) => ({
  name: 'corporate',
  isFirst: true,
  entry: { userIdClaim: 'sub', ...entry },
  ...more,
});
const readRoles = (claims: object, rolesClaim: string): readonly string[] =>
  toCaller({ sub: 'ada', ...claims }, createSource({ rolesClaim })).roles;

describe('user ID of toCaller', () => {
  it('is the unchanged claim', () => {
    for (const sub of ['ada', 'auth0|5f7c', 'Ada.Lovelace@example.com', '../x', 'système:serviceaccount:a:b', ' ', '__proto__'])
      expect(toCaller({ sub }, createSource()).subject).toBe(sub);
  });

  it.each([
    ['another claim', { email: 'ada@example.com' }, 'email'],
    ['a nested claim', { profile: { id: { value: 'ada@example.com' } } }, 'profile.id.value'],
    ['a claim whose name has dots', { 'https://example.com/id': 'ada@example.com' }, 'https://example.com/id'],
    [
      'a claim nested in a claim whose name has dots',
      { 'https://example.com/user': { id: 'ada@example.com' } },
      'https://example.com/user.id',
    ],
  ])('is read from %s', (_what, claims, userIdClaim) => {
    expect(toCaller({ sub: 'x', ...claims }, createSource({ userIdClaim })).subject).toBe('ada@example.com');
  });

  it.each([
    ['missing', undefined],
    ['empty', ''],
    ['a number', 42],
    ['a list', ['ada']],
    ['an object', { id: 'ada' }],
    ['null', null],
    ['longer than 512 characters', 'a'.repeat(513)],
    ['text with a NUL character', 'ada\0root'],
    ['text with a line break', 'ada\r\nroot'],
    ['a lone surrogate', '\udc00'],
  ])('must not be %s', (_what, sub) => {
    expect(() => toCaller({ sub }, createSource())).toThrow(ParleyError);
  });

  it.each(['constructor', '__proto__', 'toString', 'sub.length', 'profile.constructor.name'])(
    'is not read from the inherited property %s',
    (userIdClaim) => {
      expect(() => toCaller({ sub: 'ada', profile: {} }, createSource({ userIdClaim }))).toThrow(/its claim .* is missing/);
    },
  );
});

describe('subject of toCaller', () => {
  const subjects = (names: readonly string[], users: readonly string[]): string[] =>
    names.flatMap((name, index) =>
      users.map((sub) => toCaller({ sub }, createSource({}, { name, isFirst: index === 0 })).subject),
    );

  it('starts with `jwt:` and the name of the provider, except for the first provider', () => {
    expect(subjects(['corporate', 'partner'], ['ada'])).toEqual(['ada', 'jwt:partner:ada']);
  });

  it('never equals the subject of a key', () => {
    expect(subjects(['corporate', 'partner'], ['key:team'])).toEqual(['jwt:corporate:key:team', 'jwt:partner:key:team']);
  });

  it('never equals the subject of an internal Parley caller', () => {
    const expected = ['jwt:corporate:parley:retrieval', 'jwt:partner:parley:retrieval'];
    expect(subjects(['corporate', 'partner'], ['parley:retrieval'])).toEqual(expected);
  });

  it('is unique for each provider and user', () => {
    const names = ['a', 'b', 'a:b', 'a%3Ab', 'jwt', 'key', 'b:', ':', '%'];
    const users = [
      'u',
      'b:u',
      'key:u',
      'jwt:b:u',
      'jwt:a:jwt:b:u',
      ':u',
      '%3Au',
      'jwt:',
      'key:',
      'jwt:a%3Ab:u',
      'parley:',
      'parley:u',
    ];
    const all = subjects(names, users);
    expect(new Set(all).size).toBe(names.length * users.length);
    expect(all.filter((subject) => /^(?:key|parley):/.test(subject))).toEqual([]);
  });
});

describe('project of toCaller', () => {
  it('is the claim of the token, otherwise the name of the provider', () => {
    const readProject = (claims: object, entry: object = { projectClaim: 'org.unit' }) =>
      toCaller({ sub: 'ada', ...claims }, createSource(entry)).project;
    expect(readProject({ org: { unit: 'search' } })).toBe('search');
    for (const unit of [undefined, '', 7, 'a\nb', ['search']]) expect(readProject({ org: { unit } })).toBe('corporate');
    expect(readProject({ org: { unit: 'search' } }, {})).toBe('corporate');
  });
});

describe('roles of toCaller', () => {
  it.each([
    ['a list', { roles: ['staff', 'admin'] }, 'roles', ['staff', 'admin']],
    ['a string with one role', { roles: 'staff' }, 'roles', ['staff']],
    ['a space-separated string', { scope: 'staff  admin ' }, 'scope', ['staff', 'admin']],
    ['a nested list', { realm_access: { roles: ['staff'] } }, 'realm_access.roles', ['staff']],
    [
      'a list nested in a claim whose name has dots',
      { resource_access: { 'my.app': { roles: ['staff'] } } },
      'resource_access.my.app.roles',
      ['staff'],
    ],
    ['a claim whose name is a URL', { 'https://example.com/roles': ['staff'] }, 'https://example.com/roles', ['staff']],
    ['the strings of a list that has other values', { roles: ['staff', 7, null, ['x'], ''] }, 'roles', ['staff']],
  ])('are read from %s', (_what, claims, rolesClaim, expected) => {
    expect(readRoles(claims, rolesClaim)).toEqual(expected);
  });

  it.each([
    ['missing', {}],
    ['an empty list', { roles: [] }],
    ['a blank string', { roles: ' ' }],
    ['a number', { roles: 3 }],
    ['an object', { roles: { staff: true } }],
    ['null', { roles: null }],
  ])('fall back to the default role if the claim is %s', (_what, claims) => {
    expect(readRoles(claims, 'roles')).toEqual(['default']);
  });

  it('fall back to the default role if no claim is configured', () => {
    expect(toCaller({ sub: 'ada', roles: ['admin'] }, createSource()).roles).toEqual(['default']);
  });
});

it('createTokenVerifier is imported without the JWT code', async () => {
  const script = `
    import { registerHooks } from 'node:module'
    const loaded = []
    registerHooks({ resolve: (name, context, next) => loaded.push(name) && next(name, context) })
    await import(${JSON.stringify(import.meta.resolve('./token-verifier.ts'))})
    console.log(loaded.includes('jose'))`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script]);
  expect(stdout).toBe('false\n');
});
