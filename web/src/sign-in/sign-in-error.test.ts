import { describe, expect, it } from 'vitest';
import { describeProblem } from './describe-problem.ts';
import { signInEnglish as english } from './sign-in-english.ts';
import type { SignInProblem } from './sign-in-error.ts';
import { signInGerman as german } from './sign-in-german.ts';

const refused = (code: string, detail = ''): SignInProblem => ({ kind: 'refused', name: 'Corp', code, detail });

describe('a sign-in that failed', () => {
  it.each<[SignInProblem, RegExp]>([
    [{ kind: 'unavailable', name: 'Corp' }, /^Corp cannot be reached just now/],
    [{ kind: 'unreachable', name: 'Corp' }, /^Corp does not answer this page/],
    [{ kind: 'unusable', name: 'Corp' }, /^Corp gave nothing/],
    [{ kind: 'stale', name: '' }, /^This sign-in was not begun in this tab/],
    [{ kind: 'foreign', name: 'Corp' }, /does not come from Corp/],
    [{ kind: 'insecure', name: 'Corp' }, /https only/],
    [refused('access_denied', 'No.'), /^The sign-in was cancelled or declined at Corp\.$/],
    [refused('temporarily_unavailable'), /just now/],
    [refused('server_error'), /just now/],
    [refused('invalid_grant', 'code is over'), /took too long/],
    [refused('invalid_scope', 'no such scope'), /^Corp refused the sign-in: no such scope \(invalid_scope\)$/],
    [refused('unauthorized_client'), /^Corp refused the sign-in: unauthorized_client$/],
    [refused('x', 'long '.repeat(1_000)), /^.{300,340}$/],
  ])('is told in words: %j', (trouble, words) => {
    expect(describeProblem(trouble, english)).toMatch(words);
    expect(describeProblem(trouble, german)).not.toBe(describeProblem(trouble, english));
  });
});
