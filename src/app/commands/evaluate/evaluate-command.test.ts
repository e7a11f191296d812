import { expect, it } from 'vitest';
import type { EvaluationWithResults } from './evaluate-command.ts';
import { toJsonReport, toJunit, toLines } from './evaluate-command.ts';

const defaults = { caseId: null, verdicts: [], answer: '', toolRuns: [], error: null, usage: [], costUsd: null, trace: [] };
const contains = { type: 'contains' as const, text: 'x' };
const evaluation: EvaluationWithResults = {
  ...{ id: 'e', version: 3, status: 'completed', total: 3, passed: 1, failed: 1, errors: 1, startedAt: 1000, endedAt: 3500 },
  ...{ costUsd: null, digest: 'd', error: null },
  results: [
    { ...defaults, nth: 0, case: { name: 'fine', input: 'a', checks: [] }, outcome: 'passed', durationMs: 500 },
    {
      ...{ ...defaults, nth: 1, case: { name: 'a "<b>"', input: 'a', checks: [contains] }, outcome: 'failed', durationMs: 20 },
      ...{ verdicts: [{ check: contains, passed: false, reason: 'It is <not> there.' }], answer: 'bell \u0007 & half \uD800' },
    },
    {
      ...{ ...defaults, nth: 2, case: { input: 'What\nis it?', checks: [] }, outcome: 'error', durationMs: 0 },
      error: { code: 'consent_required', message: 'No consent.' },
    },
  ],
};

it('toLines reports each case that did not pass, with the reasons', () => {
  expect(toLines(evaluation)).toEqual([
    'FAILED  a "<b>"',
    '        contains: It is <not> there.',
    'ERROR   What is it?',
    '        No consent. (consent_required)',
    'version 3: 1 of 3 passed, 1 failed, 1 without an answer',
  ]);
  expect(toLines({ ...evaluation, status: 'cancelled', results: [] }).at(-1)).toMatch(/\. The evaluation was cancelled$/);
});

it('toJsonReport contains no times and no ids', () => {
  const later = { ...evaluation, id: 'f', startedAt: 7, endedAt: 9 };
  const slower = later.results.map((result) => ({ ...result, durationMs: 9, caseId: null }));
  expect(toJsonReport('app', { ...later, results: slower })).toBe(toJsonReport('app', evaluation));
});

it('toJunit returns valid XML for any answer', () => {
  const xml = toJunit('applications/b/app', evaluation);
  expect(xml).toContain('tests="3" failures="1" errors="1" skipped="0" time="2.5"');
  expect(xml).toContain('name="a &quot;&lt;b&gt;&quot;" time="0.02"');
  expect(xml).toContain('<system-out>bell \uFFFD &amp; half \uFFFD</system-out>');
  expect(xml).toContain('<error message="No consent. (consent_required)">');
});
