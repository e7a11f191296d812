import { describe, expect, test } from 'vitest';
import { JsonError, parseJson } from '#base/json/json.ts';
import { ParleyError } from '#contract/errors/errors.ts';
import { begin, createCallEnd, createUpstreamError, openBench, traceparent } from '#test/telemetry-bench.ts';

const caller = { subject: 'ada@example.com', project: 'lab', roles: ['default'], chain: null };

describe('the log line of a call', () => {
  test('names the user and the deployment, the outcome, and the duration', async () => {
    const bench = await openBench();
    const record = begin(bench, { traceparent });
    record.caller = caller;
    record.setDeployment('gpt');
    const attempt = record.startAttempt('gpt#up', bench.clock.ms);
    bench.clock.ms += 12.34;
    record.recordFirstByte(bench.clock.ms);
    bench.clock.ms += 100;
    attempt.end('ok', bench.clock.ms);
    record.end(createCallEnd(bench, { promptTokens: 7, completionTokens: 9 }));
    expect(bench.lines()).toEqual([
      {
        level: 'info',
        time: 1_700_000_001_112.34,
        msg: 'call',
        request_id: 'request-1',
        trace_id: '0af7651916cd43dd8448eb211c80319c',
        operation: 'chat',
        route: '/v1/chat/completions',
        project: 'lab',
        user: expect.stringMatching(/^[0-9a-f]{12}$/),
        deployment: 'gpt',
        upstream: 'gpt#up',
        tries: 1,
        status: 200,
        code: null,
        outcome: 'ok',
        stream: true,
        ms: 112.3,
        first_byte_ms: 12.3,
        prompt_tokens: 7,
        completion_tokens: 9,
      },
    ]);
  });

  test('is one line of JSON even if IDs contain line ends or quotes', async () => {
    const bench = await openBench();
    const record = begin(bench, { requestId: 'a"b\\c\nd\u2028é' });
    record.caller = { ...caller, project: 'x"\n{' };
    record.setDeployment('"},{"\u0000');
    record.end(createCallEnd(bench, { outcome: 'refused', status: 404, error: new ParleyError('deployment_not_found', 'No.') }));
    expect(bench.lines()).toEqual([
      expect.objectContaining({
        request_id: 'a"b\\c\nd\u2028é',
        project: 'x"\n{',
        deployment: '"},{"\u0000',
        code: 'deployment_not_found',
      }),
    ]);
  });

  test('truncates a long ID', async () => {
    const bench = await openBench();
    const record = begin(bench);
    record.setDeployment('x'.repeat(100_000));
    record.end(createCallEnd(bench));
    expect(bench.text().length).toBeLessThan(1_000);
  });

  test('gives each user a constant pseudonym that differs from those of other users', async () => {
    const bench = await openBench();
    for (const subject of ['ada', 'ada', 'bob']) {
      const record = begin(bench);
      record.caller = { ...caller, subject };
      record.end(createCallEnd(bench));
    }
    const [first, again, other] = bench.lines().map(({ user }) => user);
    expect(again).toBe(first);
    expect(other).not.toBe(first);
  });

  test('is not written if the log level is above info', async () => {
    const bench = await openBench({ level: 'warn' });
    begin(bench).end(createCallEnd(bench));
    expect(bench.text()).toBe('');
  });
});

describe('the failure line of a call', () => {
  test('has the causes of the failure and their stack', async () => {
    const bench = await openBench();
    const record = begin(bench);
    record.setDeployment('gpt');
    const cause = new Error('outer', { cause: Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' }) });
    record.end(
      createCallEnd(bench, { outcome: 'failed', status: 500, error: new ParleyError('internal_error', 'A fault.', { cause }) }),
    );
    const [line, failureLine] = bench.lines();
    expect(line).toMatchObject({ msg: 'call', status: 500, code: 'internal_error', outcome: 'failed' });
    expect(failureLine).toMatchObject({
      level: 'error',
      msg: 'a call failed',
      request_id: 'request-1',
      deployment: 'gpt',
      error: {
        code: 'internal_error',
        cause: { message: 'outer', cause: { message: 'connect ECONNREFUSED', code: 'ECONNREFUSED' } },
      },
    });
    expect((failureLine as { error: { cause: { stack: string[] } } }).error.cause.stack[0]).toMatch(/^at /);
  });

  test('is not written if the client caused the error', async () => {
    const bench = await openBench();
    begin(bench).end(
      createCallEnd(bench, { outcome: 'refused', status: 429, error: new ParleyError('token_limit_exceeded', 'Used up.') }),
    );
    expect(bench.lines()).toHaveLength(1);
  });
});

describe('secrets and content', () => {
  const content = 'canary-content';
  const upstreamError = createUpstreamError(`cannot answer "${content}"`);
  const jsonError = (() => {
    try {
      return parseJson(`${content}, not JSON`);
    } catch (error) {
      return error;
    }
  })();

  test('do not reach the log through the excerpt of a JSON error', () => {
    expect(jsonError).toBeInstanceOf(JsonError);
    expect(String((jsonError as JsonError).cause)).toContain('canary');
  });

  test('appear in no log line and no metric', async () => {
    const bench = await openBench();
    const errors = [
      new ParleyError('upstream_failed', `The upstream of gpt failed: ${upstreamError.message}`, { cause: upstreamError }),
      new ParleyError('internal_error', 'A fault.', { cause: jsonError }),
      new ParleyError('internal_error', 'A fault.', { cause: 'error text canary-content' }),
      new ParleyError('internal_error', 'A fault.', { cause: new Error('with canary-known-secret in it') }),
      new ParleyError('internal_error', 'A fault.', { cause: new Error('Authorization: Bearer canary-bearer-token') }),
      new ParleyError('internal_error', 'A fault.', {
        cause: new Error('GET https://user:canary-password@host/?api_key=canary-query'),
      }),
      new ParleyError('internal_error', 'A fault.', { cause: new Error('key sk-canary-0123456789') }),
    ];
    for (const error of errors) {
      const record = begin(bench, { traceparent: 'canary-trace', tracestate: 'canary=1' });
      record.caller = { ...caller, subject: 'canary-subject' };
      record.setDeployment('gpt');
      record.startAttempt('canary-upstream-id', bench.clock.ms).end('broken', bench.clock.ms);
      record.end(createCallEnd(bench, { outcome: 'failed', status: error.status, error }));
    }
    bench.log.warn('a fault with canary-known-secret', { where: ['canary-known-secret', { deep: 'password=canary-password' }] });
    bench.log.error('error', new Error('canary-known-secret'));
    const logged = bench.text().replaceAll('"upstream":"canary-upstream-id"', '');
    expect(logged).toContain('a call failed');
    expect(logged).not.toContain('canary');
    expect(bench.telemetry.toPrometheus()).not.toContain('canary');
  });

  test('do not reach the line of a call through a request ID or a model name', async () => {
    const bench = await openBench();
    const record = begin(bench, { requestId: 'canary-known-secret' });
    record.setDeployment('sk-canary-0123456789');
    const error = new ParleyError('deployment_not_found', 'There is no such deployment.');
    record.end(createCallEnd(bench, { outcome: 'refused', status: 404, error }));
    expect(bench.lines()).toEqual([expect.objectContaining({ request_id: '***', deployment: '***', status: 404 })]);
  });

  test('from an upstream appear at the level debug, except for secrets', async () => {
    const bench = await openBench({ level: 'debug' });
    bench.log.error('failed', upstreamError);
    bench.log.error('failed', new Error('canary-known-secret'));
    expect(bench.text()).toContain(content);
    expect(bench.text()).not.toContain('canary-known-secret');
  });
});
