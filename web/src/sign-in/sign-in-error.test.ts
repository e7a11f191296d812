import { describe, expect, it } from 'vitest';
import { signInGerman as german } from '../locales/de/sign-in.ts';
import { signInEnglish as english } from '../locales/en/sign-in.ts';
import type { SignInProblem } from './sign-in-error.ts';
import { describeProblem } from './sign-in-strings.ts';

const rejected = (code: string, detail = ''): SignInProblem => ({ kind: 'rejected', name: 'Corp', code, detail });

describe('describeProblem', () => {
  it.each<[SignInProblem, RegExp]>([
    [{ kind: 'unavailable', name: 'Corp' }, /^Corp cannot be reached right now/],
    [{ kind: 'unreachable', name: 'Corp' }, /^Corp does not respond to this page/],
    [{ kind: 'unusable', name: 'Corp' }, /^The sign-in response from Corp cannot be used/],
    [{ kind: 'stale', name: '' }, /^This sign-in was not started in this tab/],
    [{ kind: 'foreign', name: 'Corp' }, /is not from Corp/],
    [{ kind: 'insecure', name: 'Corp' }, /only over HTTPS/],
    [rejected('access_denied', 'No.'), /^The sign-in was canceled or declined at Corp\.$/],
    [rejected('temporarily_unavailable'), /right now/],
    [rejected('server_error'), /right now/],
    [rejected('invalid_grant', 'code has expired'), /took too long/],
    [rejected('invalid_scope', 'no such scope'), /^Corp rejected the sign-in: no such scope \(invalid_scope\)$/],
    [rejected('unauthorized_client'), /^Corp rejected the sign-in: unauthorized_client$/],
    [rejected('x', 'long '.repeat(1_000)), /^.{300,340}$/],
  ])('describes %j', (problem, pattern) => {
    expect(describeProblem(problem, english)).toMatch(pattern);
    expect(describeProblem(problem, german)).not.toBe(describeProblem(problem, english));
  });
});
