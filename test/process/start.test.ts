import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { hello, plainReply } from '#test/chunks.ts';
import { findFreePort, waitUntilListening } from '#test/listening.ts';
import { eventsReply, startScriptedUpstream } from '#test/scripted-upstream.ts';
import { runCommand, startProcess } from '#test/start-process.ts';
import { withKey } from '#test/start-service.ts';
import { openFolder, type TemporaryFolder } from '#test/temporary-folder.ts';

vi.setConfig({ testTimeout: 60_000 });

let temporary: TemporaryFolder;

beforeAll(async () => {
  temporary = await openFolder();
});

afterAll(() => temporary[Symbol.asyncDispose]());

async function write(name: string, text: string): Promise<string> {
  const file = join(temporary.path, name);
  await writeFile(file, text);
  return file;
}

const demo = { models: { demo: { upstreams: [{ protocol: 'demo' }] } } };

it('a started node does not log or count a call before the first request', async () => {
  await using node = await startProcess({ configuration: demo });
  const metrics = await (await fetch(`${node.url}/metrics`)).text();
  expect(metrics).toContain('process_uptime_seconds');
  expect(metrics.split('\n').filter((line) => /^gen_ai_\w+_count/.test(line))).toEqual([]);
  expect(node.output.stdout).not.toContain('"msg":"call"');
  await node.chat('demo', { messages: hello });
  const after = await (await fetch(`${node.url}/metrics`)).text();
  expect(after).toMatch(/^gen_ai_\w+_count/m);
  await node.untilOutput(/"msg":"call"/);
});

describe('a node that cannot start', () => {
  it('prints every configuration error and exits with code 1', async () => {
    const file = await write(
      'typo.json',
      '{ "models": { "m": { "upstream": [], "upstreams": [{ "endpoint": "http://x.example/v1", "wieght": 2 }] } } }',
    );
    const { code, stderr, stdout } = await runCommand(['serve', '--config', file, '--port', '0']);
    expect(code).toBe(1);
    expect(stderr).toContain(`${file}: models.m.upstream`);
    expect(stderr).toContain(`${file}: models.m.upstreams[0].wieght`);
    expect(stderr).toContain('weight');
    expect(stderr).not.toMatch(/\n\s+at /);
    expect(stdout).not.toContain('listens');
  });

  it('names a missing file, invalid JSON, and an undefined variable', async () => {
    const broken = await write('broken.json', '{ "models": { ');
    const unset = await write(
      'unset.yaml',
      `models:\n  m:\n    upstreams:\n      - endpoint: http://x.example/v1\n        key: \${PARLEY_TEST_UNSET}\n`,
    );
    for (const [file, expected] of [
      [join(temporary.path, 'none.json'), /does not exist/],
      [broken, /broken\.json/],
      [unset, /PARLEY_TEST_UNSET/],
    ] as const) {
      const { code, stderr } = await runCommand(['serve', '--config', file, '--port', '0']);
      expect(code).toBe(1);
      expect(stderr).toMatch(expected);
    }
  });

  it('names its port if the port is in use', async () => {
    const occupant = createServer().listen(0, '127.0.0.1');
    await waitUntilListening(occupant);
    const address = occupant.address();
    const port = typeof address === 'object' ? String(address?.port) : '';
    const file = await write('demo.json', JSON.stringify(demo));
    const { code, stderr } = await runCommand([
      'serve',
      '--config',
      file,
      '--port',
      port,
      '--data',
      join(temporary.path, 'data'),
    ]);
    occupant.close();
    expect(code).toBe(1);
    expect(stderr).toContain(port);
    expect(stderr).toMatch(/in use/);
    expect(stderr).not.toMatch(/\n\s+at /);
  });

  it.each([
    [['serve', '--port', 'many'], 1, /port/],
    [['serve', '--prot', '1'], 2, /--prot/],
    [['sevre'], 2, /sevre/],
    [['serve', 'parley.json'], 2, /--config/],
  ])('reports the error in the arguments %j', async (args, code, expected) => {
    const result = await runCommand(args);
    expect(result.code).toBe(code);
    expect(result.stderr).toMatch(expected);
  });
});

describe('a starting node', () => {
  it('serves the demo with a key that it prints if it has no configuration', async () => {
    await using node = await startProcess({ configuration: null });
    await node.untilOutput(/#key=\S+\n/);
    const key = /#key=(\S+)/.exec(node.output.stdout)?.[1];
    expect(key).toBeDefined();
    const headers = withKey(key);
    const answer = await node.sendRequest({
      path: '/openai/deployments/demo/chat/completions',
      headers,
      body: { messages: hello },
    });
    expect(answer.status).toBe(200);
    expect((await node.chat('demo', { messages: hello })).status).toBe(401);
    const { json } = await node.sendRequest({ method: 'GET', path: '/v1/models', headers });
    expect((json as { data: { id: string }[] }).data.map(({ id }) => id)).toEqual(
      expect.arrayContaining(['demo', 'demo-embeddings']),
    );
  });

  it('reads YAML, multiple files, and environment variables', async () => {
    await using upstream = await startScriptedUpstream(eventsReply(...plainReply('hi')));
    const base = await write(
      'base.yaml',
      `models:\n  m:\n    upstreams:\n      - endpoint: \${UPSTREAM}/v1\n        key: \${UPSTREAM_KEY}\n`,
    );
    await using node = await startProcess({
      configuration: { roles: {} },
      flags: ['--config', base],
      environment: { UPSTREAM: upstream.url, UPSTREAM_KEY: 'from the environment' },
    });
    expect((await (await node.stream('m', { messages: hello })).readRest()).content()).toBe('hi');
    expect(upstream.requests[0]?.headers.authorization).toBe('Bearer from the environment');
  });

  it('can use the port of a node that was ended with kill -9', async () => {
    const port = String(await findFreePort());
    for (let start = 0; start < 2; start += 1) {
      await using node = await startProcess({ configuration: demo, flags: ['--port', port] });
      const reader = await node.stream('demo', { messages: [{ role: 'user', content: 'Count to 1000' }] });
      await reader.next();
      node.kill('SIGKILL');
      expect((await node.ended).signal).toBe('SIGKILL');
      await expect(reader.readRest()).rejects.toThrow();
    }
  });
});
