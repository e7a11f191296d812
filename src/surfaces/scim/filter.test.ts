import { describe, expect, it } from 'vitest';
import { matchesFilter } from '#domain/scim/scim-filter.ts';
import { parseFilter, parsePatchPath, requireFilterable } from './filter.ts';

const enterprise = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';
const user = {
  id: 'u1',
  externalId: 'Ext-1',
  userName: 'Ada@Example.com',
  active: true,
  name: { givenName: 'Ada', familyName: 'Lovelace' },
  title: '',
  emails: [
    { type: 'work', value: 'ada@example.com', primary: true },
    { type: 'home', value: 'ada@home.example' },
  ],
  [enterprise]: { department: 'Engines', employeeNumber: 7, manager: { value: 'm1' } },
  meta: { created: '2026-03-01T10:00:00.000Z', lastModified: '2026-03-02T10:00:00.000Z' },
};
const matches = (text: string) => matchesFilter(parseFilter(text), user);

describe('parseFilter', () => {
  it.each([
    'userName eq "ada@example.com"',
    'USERNAME EQ "Ada@Example.com"',
    'urn:ietf:params:scim:schemas:core:2.0:User:userName sw "ada"',
    'externalId eq "Ext-1"',
    'externalId ne "ext-1"',
    'name.familyName co "LOVE"',
    'userName ew ".com" and active eq true',
    'active eq "True"',
    'userName eq "x" or (id eq "u1" and not (active eq false))',
    'id eq "x" and id eq "y" or id eq "u1"',
    'name pr and not (title pr) and nickName ne "x"',
    'nickName eq null',
    'name ne null',
    'emails eq "ada@home.example"',
    'emails.type eq "work"',
    'emails[type eq "work" and value co "@example.com"]',
    'emails[type eq "work"].value eq "ada@example.com"',
    'emails[type eq "home"] and emails[primary eq true]',
    `${enterprise}:department eq "engines"`,
    `${enterprise}:employeeNumber ge 7`,
    `${enterprise}:manager eq "m1"`,
    'meta.lastModified gt "2026-03-02T11:00:00+02:00"',
    'meta.created lt "2026-03-01T10:00:00.001Z" and meta.created ge "2026-03-01T10:00:00Z"',
  ])('returns a filter that selects the user: %s', (text) => expect(matches(text)).toBe(true));

  it.each([
    'userName eq "ada"',
    'externalId eq "ext-1"',
    'externalId co "ext"',
    'not (id eq "u1")',
    'id eq "u1" and (active eq false or userName eq "x")',
    'emails[type eq "work"].value eq "ada@home.example"',
    'emails[type eq "home" and value ew "@example.com"]',
    'name[familyName eq "x"]',
    'title pr',
    'constructor pr',
    'active gt false',
    `${enterprise}:employeeNumber gt 7`,
    'meta.created gt "2026-03-01T10:00:00Z"',
  ])('returns a filter that does not select the user: %s', (text) => expect(matches(text)).toBe(false));

  it.each([
    ['userName', 'ends too early'],
    ['userName is "x"', 'needs one of eq'],
    ['userName eq x', 'invalid value x'],
    ['userName eq "x', 'invalid value "'],
    ['userName eq "\\q"', 'invalid value'],
    ['userName eq {}', 'invalid value'],
    ['userName gt null', 'uses gt with null, which only eq and ne allow'],
    ['(userName eq "x"', 'lacks a )'],
    ['userName eq "x")', 'unexpected )'],
    ['emails[type eq "x"].value.more eq "x"', 'more than one attribute'],
    ['__proto__ eq "x"', 'instead of an attribute'],
    ['not userName eq "x"', 'lacks a ('],
    [`${'('.repeat(11)}id pr${')'.repeat(11)}`, 'more than 10 nested'],
    [Array.from({ length: 70 }, () => 'id pr').join(' or '), 'more than 200 parts'],
    [`userName eq "${'x'.repeat(2000)}"`, 'more than 2000 characters'],
  ])('rejects %s', (text, reason) => expect(() => parseFilter(text)).toThrow(reason));

  it('takes linear time for quotation marks and spaces without an end', () => {
    for (const text of ['"'.repeat(1999), `id eq "${'\\'.repeat(1000)}`, `id pr${' '.repeat(1900)}x`])
      expect(() => parseFilter(text)).toThrow(/invalid|unexpected|instead|early|more than 200/);
  });
});

describe('requireFilterable', () => {
  it.each([
    ['emails eq "x"', 'A filter of groups can use'],
    ['displayName[x eq 1]', 'A filter of groups can use'],
    ['members sw "x"', 'members can only'],
    ['members[display eq "x"]', 'members can only'],
    ['meta.created co "2026"', 'can only be compared with a time'],
    ['meta.lastModified gt "yesterday"', 'can only be compared with a time'],
  ])('rejects a filter of groups: %s', (text, reason) =>
    expect(() => requireFilterable(parseFilter(text), 'Group')).toThrow(reason),
  );

  it.each(['displayName sw "A" and members eq "u1"', 'members[value eq "u1" or value eq "u2"]', 'not (members pr)'])(
    'accepts a filter of groups: %s',
    (text) => expect(() => requireFilterable(parseFilter(text), 'Group')).not.toThrow(),
  );
});

describe('parsePatchPath', () => {
  it.each([
    ['active', { attribute: 'active' }],
    ['name.givenName', { attribute: 'name', sub: 'givenName' }],
    [`${enterprise}:manager.value`, { extension: enterprise, attribute: 'manager', sub: 'value' }],
    [
      'emails[type eq "work"].value',
      { attribute: 'emails', sub: 'value', filter: { op: 'eq', path: { attribute: 'type' }, value: 'work' } },
    ],
  ])('parses %s', (text, path) => expect(parsePatchPath(text)).toEqual(path));

  it.each(['', 'a..b', '.a', 'a b', 'a[', 'a[b]', 'a[b eq 1].c.d', 'a.b[c eq 1]', '__proto__.x'])('rejects %j', (text) =>
    expect(() => parsePatchPath(text)).toThrow('The path'),
  );
});
