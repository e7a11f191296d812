import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { jsonReply, silence, startScriptedUpstream } from '#test/scripted-upstream.ts';
import { sendRequest } from '#test/send-request.ts';
import { runCommand } from '#test/start-process.ts';
import { startAddinProcess } from './addin-process.ts';
import { messagesPath, origin, RawCaller, startHeldUpstream } from './support.ts';

const fixtures = fileURLToPath(new URL('../process/fixtures', import.meta.url));
const post = { path: messagesPath, headers: { origin, 'x-api-key': 'canary-key' }, body: '{"canary":"body"}' };

describe('parley addin', () => {
  let folder = '';
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'parley-addin-'));
  });
  afterAll(() => rm(folder, { recursive: true }));

  const writeTestFile = async (name: string, text: string): Promise<string> => {
    await writeFile(join(folder, name), text);
    return join(folder, name);
  };

  it('serves the gateway as a separate process', async () => {
    await using upstream = await startScriptedUpstream(jsonReply({ id: 'reply' }));
    const models = await writeTestFile('models.json', '[{"id": "gpt", "display_name": "GPT", "object": "model"}]');
    await using addin = await startAddinProcess(['--upstream', upstream.url, '--models', models]);
    expect((await sendRequest(addin.url, post)).json).toEqual({ id: 'reply' });
    expect((await sendRequest(addin.url, { method: 'GET', path: '/msgapi/v1/models' })).json).toEqual({
      data: [{ id: 'gpt', object: 'model', display_name: 'GPT' }],
      object: 'list',
      has_more: false,
    });
    expect((await sendRequest(addin.url, { method: 'GET', path: '/health' })).status).toBe(404);
  });

  it('reads its models again after SIGHUP, and keeps the last ones if the file has errors', async () => {
    await using upstream = await startScriptedUpstream(jsonReply({}));
    const models = await writeTestFile('changed.json', '[{"id": "old", "display_name": "Old"}]');
    await using addin = await startAddinProcess(['--upstream', upstream.url, '--models', models]);
    const listIds = async () => {
      const { json } = await sendRequest(addin.url, { method: 'GET', path: '/msgapi/v1/models' });
      return (json as { data: readonly { id: string }[] }).data.map(({ id }) => id);
    };
    await writeTestFile('changed.json', '[{"id": "new", "display_name": "New"}]');
    expect(await listIds()).toEqual(['old']);
    addin.kill('SIGHUP');
    await addin.waitForOutput(/models reloaded/);
    expect(await listIds()).toEqual(['new']);
    await writeTestFile('changed.json', '[{"id": 3}]');
    addin.kill('SIGHUP');
    await addin.waitForOutput(/cannot reload the models.*changed\.json/);
    expect(await listIds()).toEqual(['new']);
  });

  it('continues after SIGHUP without a models file', async () => {
    await using upstream = await startScriptedUpstream(jsonReply({ id: 'reply' }));
    await using addin = await startAddinProcess(['--upstream', upstream.url]);
    addin.kill('SIGHUP');
    await addin.waitForOutput(/SIGHUP has no effect without --models/);
    expect((await sendRequest(addin.url, post)).json).toEqual({ id: 'reply' });
  });

  it('admits the configured origins and trusts the configured proxies', async () => {
    await using upstream = await startScriptedUpstream(jsonReply({}));
    const flags = ['--allowed-origin', origin, '--allowed-origin', 'https://b.example', '--trusted-proxy', '127.0.0.1'];
    await using addin = await startAddinProcess(['--upstream', upstream.url, ...flags]);
    const getStatus = async (from: string) =>
      (await sendRequest(addin.url, { ...post, headers: { ...post.headers, origin: from } })).status;
    expect([await getStatus(origin), await getStatus('https://b.example'), await getStatus('https://c.example')]).toEqual([
      200, 200, 403,
    ]);
    await sendRequest(addin.url, { ...post, headers: { 'x-forwarded-for': '203.0.113.7' } });
    expect(upstream.requests.at(-1)?.headers['x-real-ip']).toBe('203.0.113.7');
  });

  it('logs one line per request, without key, query, or content', async () => {
    await using upstream = await startScriptedUpstream(jsonReply({ canary: 'reply' }, 200, { 'x-request-id': 'r1' }));
    await using addin = await startAddinProcess(['--upstream', upstream.url]);
    await sendRequest(addin.url, { ...post, path: `${messagesPath}?key=canary-query` });
    await sendRequest(addin.url, { method: 'GET', path: '/sk-canary-in-the-path' });
    await addin.waitForOutput(/"status":404/);
    const lines = addin.output.stdout.split('\n').filter((line) => line.includes('"msg":"request"'));
    const [forwarded, rejected] = lines.map((line) => JSON.parse(line) as object);
    expect(lines).toHaveLength(2);
    expect(forwarded).toEqual({
      level: 'info',
      time: expect.any(Number),
      msg: 'request',
      method: 'POST',
      path: messagesPath,
      origin,
      status: 200,
      outcome: 'ok',
      ms: expect.any(Number),
      request_id: 'r1',
    });
    expect(rejected).toMatchObject({ path: '/***', status: 404 });
    expect(addin.output.stdout).not.toMatch(/canary/);
  });

  it('logs why the upstream cannot be reached', async () => {
    await using addin = await startAddinProcess(['--upstream', 'http://127.0.0.1:9'], { LOG_LEVEL: 'warn' });
    expect((await sendRequest(addin.url, post)).status).toBe(502);
    await addin.waitForOutput(/"level":"warn".*"status":502,"outcome":"failed".*"fault":"connect","cause":"ECONNREFUSED"/);
  });

  it('finishes open streams after SIGTERM, then exits with 0', async () => {
    const continueStream = Promise.withResolvers<void>();
    await using upstream = await startHeldUpstream(continueStream.promise);
    await using addin = await startAddinProcess(['--upstream', upstream.url]);
    const caller = new RawCaller(addin.url);
    caller.send(`POST ${messagesPath} HTTP/1.1\r\nHost: g\r\n\r\n`);
    await caller.until(/one/);
    addin.kill('SIGTERM');
    await addin.waitForOutput(/"msg":"stopping","?.*open_calls"?:1|"open_calls":1.*"msg":"stopping"/);
    continueStream.resolve();
    await caller.closed;
    expect(caller.text).toMatch(/\[DONE\]\n\n\r\n0\r\n\r\n$/);
    expect(await addin.ended).toBe(0);
  });

  it('closes requests that exceed the drain time', async () => {
    await using upstream = await startScriptedUpstream(silence);
    await using addin = await startAddinProcess(['--upstream', upstream.url], { PARLEY_DRAIN_MS: '200' });
    const answer = sendRequest(addin.url, post);
    const { closed } = await upstream.request(0);
    addin.kill('SIGINT');
    await expect(answer).rejects.toThrow();
    expect((await closed).early).toBe(true);
    expect(await addin.ended).toBe(0);
  });

  it('reports on stderr why it cannot start, and exits', async () => {
    const usageError = await runCommand(['addin', '--port', '0']);
    expect([usageError.code, usageError.stdout, usageError.stderr]).toEqual([
      2,
      '',
      expect.stringMatching(/requires --upstream URL/),
    ]);
    const models = await writeTestFile('faulty.json', '[{"id": "a"}]');
    const modelsError = await runCommand(['addin', '--upstream', 'http://h', '--models', models]);
    expect([modelsError.code, modelsError.stdout, modelsError.stderr]).toEqual([
      1,
      '',
      expect.stringMatching(/faulty\.json: \[0\]\.display_name/),
    ]);
    expect(modelsError.stderr).not.toMatch(/\n\s+at /);
  });

  it('lists its flags in --help', async () => {
    const { code, stdout } = await runCommand(['addin', '--help']);
    expect(code).toBe(0);
    for (const flag of ['--upstream', '--models', '--allowed-origin', '--trusted-proxy', '--tls-cert'])
      expect(stdout).toContain(flag);
  });

  it('serves HTTPS, and reloads the certificate when the file changes', async () => {
    await using upstream = await startScriptedUpstream(jsonReply({}));
    const [cert, key] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
    const put = async (name: string): Promise<void> => {
      await copyFile(join(fixtures, `${name}-key.pem`), key);
      await copyFile(join(fixtures, `${name}-cert.pem`), cert);
    };
    await put('first');
    await using addin = await startAddinProcess(['--upstream', upstream.url, '--tls-cert', cert, '--tls-key', key]);
    expect(addin.url).toMatch(/^https:/);
    expect(await readCertificate(addin.url)).toEqual({
      name: 'first.parley.test',
      status: 200,
      strictTransport: 'max-age=31536000',
    });
    expect(upstream.requests[0]?.headers['x-forwarded-proto']).toBe('https');
    await put('second');
    await vi.waitUntil(async () => (await readCertificate(addin.url)).name === 'second.parley.test', {
      interval: 50,
      timeout: 10_000,
    });
  });
});

/** Returns the name in the certificate of the gateway, the response status, and the `Strict-Transport-Security` header. */
function readCertificate(url: string): Promise<{ name: string; status: number; strictTransport: string | undefined }> {
  return new Promise((resolve, reject) => {
    const clientRequest = request(
      `${url}${messagesPath}`,
      { method: 'POST', rejectUnauthorized: false, agent: false },
      (response) => {
        const { CN: name } = (response.socket as TLSSocket).getPeerCertificate().subject;
        response.resume();
        const strictTransport = response.headers['strict-transport-security'];
        resolve({ name: String(name), status: response.statusCode ?? 0, strictTransport });
      },
    );
    clientRequest.on('error', reject).end();
  });
}
