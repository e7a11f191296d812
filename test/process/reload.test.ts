import { access, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { delta, finish, hello, plainReply, text } from '#test/chunks.ts';
import { eventsReply, startScriptedUpstream } from '#test/scripted-upstream.ts';
import { startProcess, type TestProcess } from '#test/start-process.ts';
import { callerKey, withKey } from '#test/start-service.ts';
import { openFolder } from '#test/temporary-folder.ts';

async function listModels(node: TestProcess): Promise<string[]> {
  const { json } = await node.sendRequest({ method: 'GET', path: '/v1/models', headers: withKey() });
  return (json as { data: { id: string }[] }).data.map(({ id }) => id);
}

async function getHealth(node: TestProcess): Promise<{ status: string; reasons: { code: string; message: string }[] }> {
  const { json, status } = await node.sendRequest({ method: 'GET', path: '/health' });
  expect(status).toBe(200);
  return json as { status: string; reasons: { code: string; message: string }[] };
}

describe('a changed configuration', () => {
  it('takes effect under load without a failed call', async () => {
    await using upstream = await startScriptedUpstream(async (exchange) => {
      exchange.head();
      for (const piece of ['one ', 'two ', 'three']) await exchange.events(delta({ role: 'assistant', content: piece }));
      await exchange.events(finish());
      exchange.done();
    });
    const model = (key: string) => ({ upstreams: [{ endpoint: upstream.endpoint, key }] });
    await using node = await startProcess({ configuration: { models: { m: model('key-0'), old: model('key-0') } } });
    let isStopped = false;
    let calls = 0;
    const failures: string[] = [];
    const caller = async (): Promise<void> => {
      while (!isStopped) {
        const isStreamed = calls % 2 === 0;
        calls += 1;
        if (isStreamed) {
          const { content, isDone, error } = await (await node.stream('m', { messages: hello })).readRest();
          if (content() !== 'one two three' || !isDone) failures.push(JSON.stringify(error));
        } else {
          const answer = await node.chat('m', { messages: hello });
          if (answer.status !== 200) failures.push(answer.text);
        }
      }
    };
    const callers = Promise.all(Array.from({ length: 8 }, caller));
    for (let round = 1; round <= 3; round += 1) {
      await node.configure({ models: { m: model(`key-${round}`), [`new-${round}`]: model(`key-${round}`) } });
      await vi.waitUntil(async () => (await listModels(node)).includes(`new-${round}`), { interval: 20, timeout: 10_000 });
    }
    isStopped = true;
    await callers;
    expect(failures).toEqual([]);
    expect(calls).toBeGreaterThan(20);
    expect(await listModels(node)).toEqual(['m', 'new-3']);
    expect((await node.chat('old', { messages: hello })).status).toBe(404);
    await node.chat('m', { messages: hello });
    expect(upstream.requests.at(-1)?.headers.authorization).toBe('Bearer key-3');
  });

  it('does not affect a stream in progress, even if its model is removed', async () => {
    const continuation = Promise.withResolvers<void>();
    await using upstream = await startScriptedUpstream(async (exchange) => {
      exchange.head();
      await exchange.events(delta({ role: 'assistant', content: 'before' }));
      await continuation.promise;
      await exchange.events(text(', after'), finish());
      exchange.done();
    });
    await using node = await startProcess({ configuration: { models: { m: { upstreams: [{ endpoint: upstream.endpoint }] } } } });
    const reader = await node.stream('m', { messages: hello });
    await reader.next();
    await node.configure({ models: { other: { upstreams: [{ protocol: 'demo' }] } } });
    await node.untilOutput(/configuration reloaded/);
    expect((await node.chat('m', { messages: hello })).status).toBe(404);
    continuation.resolve();
    const { content, isDone, error } = await reader.readRest();
    expect([content(), isDone, error]).toEqual(['before, after', true, undefined]);
  });

  it('is rejected with a reason in the log and in /health if it is invalid, and the last valid one stays active', async () => {
    await using upstream = await startScriptedUpstream(eventsReply(...plainReply('fine')));
    const good = { models: { m: { upstreams: [{ endpoint: upstream.endpoint, key: 'canary-of-the-upstream' }] } } };
    await using node = await startProcess({ configuration: good });
    expect(await getHealth(node)).toMatchObject({ status: 'ok', reasons: [] });
    for (const [invalid, expected] of [
      [{ models: { m: { upstreams: [] } } }, /models\.m\.upstreams/],
      [{ modles: {} }, /modles/],
      ['{ "models": ', /parley\.json/],
      ['', /parley\.json: is empty/],
    ] as const) {
      await node.configure(invalid);
      await vi.waitUntil(async () => expected.test(JSON.stringify((await getHealth(node)).reasons)), {
        interval: 20,
        timeout: 10_000,
      });
      const { status, reasons } = await getHealth(node);
      expect(status).toBe('degraded');
      expect(reasons.map(({ code }) => code)).toContain('configuration_refused');
      await node.untilOutput(expected);
      expect((await (await node.stream('m', { messages: hello })).readRest()).content()).toBe('fine');
      expect((await node.sendRequest({ method: 'GET', path: '/ready' })).status).toBe(200);
    }
    await node.configure({ ...good, models: { ...good.models, second: { upstreams: [{ protocol: 'demo' }] } } });
    await vi.waitUntil(async () => (await getHealth(node)).status === 'ok', { interval: 20, timeout: 10_000 });
    expect(await listModels(node)).toEqual(['m', 'second']);
    expect(node.output.stdout + node.output.stderr).not.toContain('canary-of-the-upstream');
  });

  it('takes effect if it changes while the node starts', async () => {
    await using folder = await openFolder();
    const file = join(folder.path, 'parley.json');
    const data = join(folder.path, 'data');
    const write = (model: string): Promise<void> =>
      writeFile(
        file,
        JSON.stringify({ keys: { [callerKey]: { project: 'p' } }, models: { [model]: { upstreams: [{ protocol: 'demo' }] } } }),
      );
    await write('old');
    const starting = startProcess({ configuration: null, flags: ['--config', file, '--data', data] });
    // The lock is created after the configuration is read.
    await vi.waitFor(() => access(join(data, 'lock')), { timeout: 20_000, interval: 2 });
    await write('new');
    await using node = await starting;
    await vi.waitFor(async () => expect(await listModels(node)).toEqual(['new']), { timeout: 10_000, interval: 50 });
  });

  it('is logged once, and the initial configuration is not logged as a change', async () => {
    await using node = await startProcess({ configuration: { models: { m: { upstreams: [{ protocol: 'demo' }] } } } });
    await node.configure({ models: { m: { upstreams: [{ protocol: 'demo' }] }, n: { upstreams: [{ protocol: 'demo' }] } } });
    await vi.waitFor(async () => expect(await listModels(node)).toEqual(['m', 'n']), { timeout: 10_000, interval: 50 });
    await node.untilOutput(/configuration reloaded/);
    expect(node.output.stdout.match(/configuration reloaded/g)).toHaveLength(1);
  });
});
