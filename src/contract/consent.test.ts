import { describe, expect, it } from 'vitest';
import { isSameForm, parseConsentForm, requiresConsent } from './consent.ts';

const yes = { consentRequired: true };
const no = { consentRequired: false };
const parsed = (text: string) => JSON.parse(text) as Record<string, typeof yes>;

describe('parseConsentForm', () => {
  it('returns the form and ignores other keys', () => {
    expect(parseConsentForm({ consent: { a: yes, 'team/b c': no }, accepted: false })).toEqual({ a: yes, 'team/b c': no });
    expect(parseConsentForm({ consent: {} })).toEqual({});
  });

  it('keeps ids that are names of members of every object', () => {
    const form = parseConsentForm(
      parsed('{"consent": {"__proto__": {"consentRequired": true}, "constructor": {"consentRequired": false}}}'),
    );
    expect(JSON.stringify(form)).toBe('{"__proto__":{"consentRequired":true},"constructor":{"consentRequired":false}}');
  });

  it.each<[what: string, body: unknown, param: string | null, message?: RegExp]>([
    ['null', null, null],
    ['a list', [], null],
    ['a string', 'consent', null],
    ['a body without the field consent', {}, 'consent', /required/],
    ['a form whose key has another case', { Consent: {} }, 'consent'],
    ['a form that is null', { consent: null }, 'consent', /object/],
    ['a form that is a list', { consent: [yes] }, 'consent', /object/],
    ['an item that is true', { consent: { a: true } }, 'consent.a'],
    ['an item that is null', { consent: { a: yes, b: null } }, 'consent.b'],
    ['an item that is a list', { consent: { a: [] } }, 'consent.a'],
    ['an item that is empty', { consent: { a: {} } }, 'consent.a.consentRequired', /required/],
    ['a string for a boolean', { consent: { a: { consentRequired: 'true' } } }, 'consent.a.consentRequired', /boolean/],
    ['a number for a boolean', { consent: { a: { consentRequired: 1 } } }, 'consent.a.consentRequired', /boolean/],
    ['null for a boolean', { consent: { a: { consentRequired: null } } }, 'consent.a.consentRequired', /boolean/],
    ['an unknown key', { consent: { a: { ...yes, accepted: true } } }, 'consent.a.accepted', /not a known field/],
    ['a key in another case', { consent: { a: { consentrequired: true } } }, 'consent.a.consentrequired', /not a known field/],
    ['an id with dots and slashes', { consent: { 'team/gpt-4.1': {} } }, 'consent["team/gpt-4.1"].consentRequired'],
    ['an empty id', { consent: { '': yes } }, 'consent[""]', /id/],
    ['an id with an empty segment', { consent: { 'a//b': yes } }, 'consent["a//b"]', /id/],
    ['an id with a parent segment', { consent: { 'a/../b': yes } }, 'consent["a/../b"]', /id/],
    ['an id with NUL', { consent: { 'a\0': yes } }, 'consent["a\\u0000"]', /id/],
    ['a very long id', { consent: { ['x'.repeat(1025)]: yes } }, `consent["${'x'.repeat(64)}…"]`, /id/],
    ['a very long key', { consent: { a: { ['k'.repeat(1000)]: 1 } } }, `consent.a["${'k'.repeat(64)}…"]`],
  ])('rejects %s with the path of the error', (_what, body, param, message = /./) => {
    expect(() => parseConsentForm(body)).toThrowError(
      expect.objectContaining({ status: 400, code: 'invalid_request', param, message: expect.stringMatching(message) }),
    );
  });

  it('accepts at most 10000 deployments', () => {
    const buildForm = (length: number) => Object.fromEntries(Array.from({ length }, (_, index) => [`a${index}`, yes]));
    expect(Object.keys(parseConsentForm({ consent: buildForm(10_000) }))).toHaveLength(10_000);
    expect(() => parseConsentForm({ consent: buildForm(10_001) })).toThrowError(/at most 10000/);
  });
});

describe('isSameForm', () => {
  it('ignores the order', () => {
    expect(isSameForm({ a: yes, b: no }, { b: no, a: yes })).toBe(true);
    expect(isSameForm({}, {})).toBe(true);
  });

  it.each([
    ['one is shorter', { a: yes, b: no }, { a: yes }],
    ['one is empty', {}, { a: no }],
    ['an id differs', { a: yes, b: no }, { a: yes, c: no }],
    ['an id differs by case', { a: yes }, { A: yes }],
    ['a requirement differs', { a: yes }, { a: no }],
    ['one has an id that is a member of every object', { a: yes, b: no }, { a: yes, constructor: no }],
    ['one has __proto__', { a: yes, b: no }, parsed('{"a": {"consentRequired": true}, "__proto__": {"consentRequired": false}}')],
  ])('returns false if %s', (_what, one, other) => {
    expect(isSameForm(one, other)).toBe(false);
    expect(isSameForm(other, one)).toBe(false);
  });
});

describe('requiresConsent', () => {
  it.each(['constructor', 'toString', '__proto__', 'b'])('returns undefined for an id that is not in the form: %s', (id) => {
    expect(requiresConsent({ a: yes }, id)).toBeUndefined();
  });

  it('returns the requirement of a deployment, also of __proto__', () => {
    expect(requiresConsent({ a: yes, b: no }, 'a')).toBe(true);
    expect(requiresConsent({ a: yes, b: no }, 'b')).toBe(false);
    expect(requiresConsent(parsed('{"__proto__": {"consentRequired": true}}'), '__proto__')).toBe(true);
  });
});
