import { Agent, request } from 'node:http';
import { describe, expect, it, vi } from 'vitest';
import { delta, finish, hello, plainCompletion, text } from '#test/chunks.ts';
import { jsonReply, startScriptedUpstream } from '#test/scripted-upstream.ts';
import { startProcess, type TestProcess } from '#test/start-process.ts';

vi.setConfig({ testTimeout: 60_000 });

const demo = { models: { demo: { upstreams: [{ protocol: 'demo' }] } } };

/** Starts a node with one open stream from an upstream that continues when `resume` is called. */
async function withOpenStream(environment: Readonly<Record<string, string>> = {}) {
  const continuation = Promise.withResolvers<void>();
  const upstream = await startScriptedUpstream(async (exchange) => {
    exchange.head();
    await exchange.events(delta({ role: 'assistant', content: 'before' }));
    await continuation.promise;
    await exchange.events(text(', after'), finish());
    exchange.done();
  });
  const node = await startProcess({
    configuration: { models: { m: { upstreams: [{ endpoint: upstream.endpoint }] } } },
    environment,
  });
  const reader = await node.stream('m', { messages: hello });
  await reader.next();
  const close = async (): Promise<void> => {
    await node[Symbol.asyncDispose]();
    await upstream.close();
  };
  return { upstream, node, reader, resume: continuation.resolve, [Symbol.asyncDispose]: close };
}

/** Sends a request over a keep-alive connection and returns status, body, and the `Connection` header. */
function sendOver(
  agent: Agent,
  node: TestProcess,
  path: string,
  body?: unknown,
  more: Readonly<Record<string, string>> = {},
): Promise<{ status: number; text: string; connection: string | undefined }> {
  return new Promise((resolve, reject) => {
    const headers = { 'api-key': 'caller-key', ...(body !== undefined && { 'content-type': 'application/json' }), ...more };
    const method = body === undefined ? 'GET' : 'POST';
    const outgoing = request(`${node.url}${path}`, { method, agent, headers }, async (response) => {
      let text = '';
      for await (const piece of response) text += String(piece);
      resolve({ status: response.statusCode ?? 0, text, connection: response.headers.connection });
    });
    outgoing.on('error', reject).end(body === undefined ? undefined : JSON.stringify(body));
  });
}

/** A drain time that is longer than the test timeout. */
const longDrain = { PARLEY_DRAIN_MS: '600000' };

describe('a node that receives a stop signal', () => {
  it('exits immediately with code 0 if it has no open calls', async () => {
    await using node = await startProcess({ configuration: demo, environment: longDrain });
    node.kill('SIGTERM');
    expect(await node.ended).toMatchObject({ code: 0, signal: null });
  });

  it.each(['SIGTERM', 'SIGINT'] as const)(
    'completes open streams, rejects new connections, and exits with code 0 after %s',
    async (signal) => {
      await using open = await withOpenStream();
      const { node, reader, resume } = open;
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      expect((await sendOver(agent, node, '/v1/models')).status).toBe(200);
      node.kill(signal);
      await node.untilOutput(/"msg":"stopping"/);
      await expect(node.chat('m', { messages: hello })).rejects.toThrow();
      resume();
      const { content, isDone, error } = await reader.readRest();
      expect([content(), isDone, error]).toEqual(['before, after', true, undefined]);
      expect(await node.ended).toMatchObject({ code: 0, signal: null });
      agent.destroy();
    },
  );

  it('reports that it is not ready and accepts calls during the grace period after SIGTERM', async () => {
    await using node = await startProcess({ configuration: demo, environment: { PARLEY_LAME_DUCK_MS: '60000' } });
    const ready = () => node.sendRequest({ method: 'GET', path: '/ready' });
    expect((await ready()).status).toBe(200);
    node.kill('SIGTERM');
    await node.untilOutput(/"lame_duck_ms":30000/);
    const { status, json } = await ready();
    expect([status, json]).toEqual([503, expect.objectContaining({ reasons: [expect.objectContaining({ code: 'stopping' })] })]);
    expect((await node.sendRequest({ method: 'GET', path: '/v1/models', headers: { 'api-key': 'caller-key' } })).status).toBe(
      200,
    );
    expect((await (await node.stream('demo', { messages: [{ role: 'user', content: 'Count to 1' }] })).readRest()).isDone).toBe(
      true,
    );
    node.kill('SIGINT');
    expect((await node.ended).code).toBe(130);
  });

  it('closes the connection with every response, so that no client reuses it', async () => {
    const late = Promise.withResolvers<void>();
    await using upstream = await startScriptedUpstream(async (exchange) => {
      await late.promise;
      await jsonReply(plainCompletion('late'))(exchange);
    });
    const models = { ...demo.models, m: { upstreams: [{ endpoint: upstream.endpoint }] } };
    await using node = await startProcess({ configuration: { models }, environment: { PARLEY_LAME_DUCK_MS: '60000' } });
    const agents = Array.from({ length: 8 }, () => new Agent({ keepAlive: true, maxSockets: 1 }));
    for (const agent of agents) expect((await sendOver(agent, node, '/v1/models')).connection).toBe('keep-alive');
    const [waiting, ...rest] = agents as [Agent, ...Agent[]];
    const chat = (model: string, more = {}) => ({ model, messages: hello, ...more });
    const inProgress = sendOver(waiting, node, '/v1/chat/completions', chat('m'));
    await upstream.request(0);
    node.kill('SIGTERM');
    await node.untilOutput(/"lame_duck_ms":/);
    const cases: readonly (readonly [status: number, path: string, body?: unknown, headers?: Record<string, string>])[] = [
      [200, '/v1/models'],
      [503, '/ready'],
      [404, '/nowhere'],
      [200, '/v1/chat/completions', chat('demo')],
      [200, '/v1/chat/completions', chat('demo', { stream: true })],
      [404, '/v1/chat/completions', chat('nobody')],
      [200, '/v1/chat/completions', chat('demo'), { expect: '100-continue' }],
    ];
    for (const [index, [status, path, body, headers]] of cases.entries()) {
      const answer = await sendOver(rest[index] as Agent, node, path, body, headers);
      expect([path, answer.status, answer.connection]).toEqual([path, status, 'close']);
    }
    late.resolve();
    expect(await inProgress).toMatchObject({ status: 200, connection: 'close' });
    for (const agent of agents) agent.destroy();
    node.kill('SIGINT');
    await node.ended;
  });

  it('rejects new connections after the grace period while open streams continue', async () => {
    await using open = await withOpenStream({ PARLEY_LAME_DUCK_MS: '200' });
    const { node, reader, resume } = open;
    node.kill('SIGTERM');
    await node.untilOutput(/"msg":"stopping"/);
    expect(node.output.stdout).toMatch(/"lame_duck_ms":200[\s\S]*"drain_ms":29800,"msg":"stopping"/);
    await expect(node.sendRequest({ method: 'GET', path: '/ready' })).rejects.toThrow();
    resume();
    expect((await reader.readRest()).isDone).toBe(true);
    expect(await node.ended).toMatchObject({ code: 0, signal: null });
  });

  it('has no grace period after SIGINT', async () => {
    await using node = await startProcess({ configuration: demo });
    node.kill('SIGINT');
    const { code, stdout } = await node.ended;
    expect([code, stdout]).toEqual([0, expect.not.stringContaining('lame_duck_ms')]);
  });

  it('ends streams with an error event after the drain time', async () => {
    await using open = await withOpenStream({ PARLEY_DRAIN_MS: '300' });
    const { node, reader, upstream } = open;
    node.kill('SIGTERM');
    const { content, isDone, error } = await reader.readRest();
    expect([content(), isDone, error?.code]).toEqual(['before', true, 'shutting_down']);
    expect(error?.type).toBe('server_overloaded');
    expect((await upstream.requests[0]?.closed)?.early).toBe(true);
    expect((await node.ended).code).toBe(0);
  });

  it('ends JSON calls with 503 and Retry-After after the drain time', async () => {
    await using upstream = await startScriptedUpstream(() => undefined, jsonReply(plainCompletion('late')));
    await using node = await startProcess({
      configuration: { models: { m: { upstreams: [{ endpoint: upstream.endpoint }] } } },
      environment: { PARLEY_DRAIN_MS: '300' },
    });
    const answer = node.chat('m', { messages: hello });
    await upstream.request(0);
    node.kill('SIGTERM');
    const { status, error, headers } = await answer;
    expect([status, error.code]).toEqual([503, 'shutting_down']);
    expect(Number(headers['retry-after'])).toBeGreaterThan(0);
    expect((await node.ended).code).toBe(0);
  });

  it('exits immediately on a second signal', async () => {
    await using open = await withOpenStream(longDrain);
    const { node } = open;
    node.kill('SIGTERM');
    await node.untilOutput(/"msg":"stopping"/);
    node.kill('SIGTERM');
    expect((await node.ended).code).toBe(130);
  });
});
