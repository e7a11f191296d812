import { describe, expect, it } from 'vitest';
import { signInGerman as german } from '../locales/de/sign-in.ts';
import { signInEnglish as english } from '../locales/en/sign-in.ts';
import type { SignInProblem } from './sign-in-error.ts';
import { describeProblem } from './sign-in-strings.ts';

const refused = (code: string, detail = ''): SignInProblem => ({ kind: 'refused', name: 'Corp', code, detail });

describe('describeProblem', () => {
  it.each<[SignInProblem, RegExp]>([
    [{ kind: 'unavailable', name: 'Corp' }, /^Corp cannot be reached right now/],
    [{ kind: 'unreachable', name: 'Corp' }, /^Corp does not respond to this page/],
    [{ kind: 'unusable', name: 'Corp' }, /^The sign-in response from Corp cannot be used/],
    [{ kind: 'stale', name: '' }, /^This sign-in was not started in this tab/],
    [{ kind: 'foreign', name: 'Corp' }, /is not from Corp/],
    [{ kind: 'insecure', name: 'Corp' }, /only over HTTPS/],
    [refused('access_denied', 'No.'), /^The sign-in was canceled or declined at Corp\.$/],
    [refused('temporarily_unavailable'), /right now/],
    [refused('server_error'), /right now/],
    [refused('invalid_grant', 'code is over'), /took too long/],
    [refused('invalid_scope', 'no such scope'), /^Corp rejected the sign-in: no such scope \(invalid_scope\)$/],
    [refused('unauthorized_client'), /^Corp rejected the sign-in: unauthorized_client$/],
    [refused('x', 'long '.repeat(1_000)), /^.{300,340}$/],
  ])('describes %j', (trouble, words) => {
    expect(describeProblem(trouble, english)).toMatch(words);
    expect(describeProblem(trouble, german)).not.toBe(describeProblem(trouble, english));
  });
});
