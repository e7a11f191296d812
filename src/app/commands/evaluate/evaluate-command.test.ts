import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import type { EvaluationWithResults } from './evaluate-command.ts';
import { evaluateCommand, toJsonReport, toJunit, toLines } from './evaluate-command.ts';

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

/** Runs the command against a server, and returns the exit code with the text for stderr. */
async function runAgainst(listener: RequestListener): Promise<[code: number, progress: string]> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const flags = { application: 'app', cases: undefined, url: `http://127.0.0.1:${port}`, key: undefined };
  let progress = '';
  const code = await evaluateCommand(
    { ...flags, version: undefined, against: undefined, parallel: undefined, junit: undefined, json: undefined },
    {
      environment: {},
      isTerminal: false,
      writeProgress(text) {
        progress += text;
      },
      show: () => undefined,
      onInterrupt: () => undefined,
    },
  );
  return [code, progress];
}

it('evaluateCommand exits with 2 if another service responds without JSON', async () => {
  const [code, progress] = await runAgainst((_request, response) => response.end('<html>'));
  expect([code, progress]).toEqual([
    2,
    expect.stringMatching(/^parley: http:\/\/127.0.0.1:\d+ responded with 200, but without JSON/),
  ]);
});

it('evaluateCommand exits with 2 if the connection ends during a response', async () => {
  const [code, progress] = await runAgainst((_request, response) => {
    response.writeHead(200, { 'content-length': 100 }).write('{');
    setTimeout(() => response.destroy(), 20);
  });
  expect([code, progress]).toEqual([2, expect.stringMatching(/^parley: The connection to http:\/\/127.0.0.1:\d+ failed/)]);
});
