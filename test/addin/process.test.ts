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

  const fileOf = async (name: string, text: string): Promise<string> => {
    await writeFile(join(folder, name), text);
    return join(folder, name);
  };

  it('is the gateway as a process of its own', async () => {
    await using upstream = await startScriptedUpstream(jsonReply({ id: 'reply' }));
    const models = await fileOf('models.json', '[{"id": "gpt", "display_name": "GPT", "object": "model"}]');
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
    const models = await fileOf('changed.json', '[{"id": "old", "display_name": "Old"}]');
    await using addin = await startAddinProcess(['--upstream', upstream.url, '--models', models]);
    const listed = async () => {
      const { json } = await sendRequest(addin.url, { method: 'GET', path: '/msgapi/v1/models' });
      return (json as { data: readonly { id: string }[] }).data.map(({ id }) => id);
    };
    await fileOf('changed.json', '[{"id": "new", "display_name": "New"}]');
    expect(await listed()).toEqual(['old']);
    addin.kill('SIGHUP');
    await addin.said(/models reloaded/);
    expect(await listed()).toEqual(['new']);
    await fileOf('changed.json', '[{"id": 3}]');
    addin.kill('SIGHUP');
    await addin.said(/cannot models reloaded.*changed\.json/);
    expect(await listed()).toEqual(['new']);
  });

  it('continues after SIGHUP without a file of models', async () => {
    await using upstream = await startScriptedUpstream(jsonReply({ id: 'reply' }));
    await using addin = await startAddinProcess(['--upstream', upstream.url]);
    addin.kill('SIGHUP');
    await addin.said(/SIGHUP has no effect without --models/);
    expect((await sendRequest(addin.url, post)).json).toEqual({ id: 'reply' });
  });

  it('lets in the origins it is told, and believes the proxies it is told', async () => {
    await using upstream = await startScriptedUpstream(jsonReply({}));
    const flags = ['--allowed-origin', origin, '--allowed-origin', 'https://b.example', '--trusted-proxy', '127.0.0.1'];
    await using addin = await startAddinProcess(['--upstream', upstream.url, ...flags]);
    const statusOf = async (from: string) =>
      (await sendRequest(addin.url, { ...post, headers: { ...post.headers, origin: from } })).status;
    expect([await statusOf(origin), await statusOf('https://b.example'), await statusOf('https://c.example')]).toEqual([
      200, 200, 403,
    ]);
    await sendRequest(addin.url, { ...post, headers: { 'x-forwarded-for': '203.0.113.7' } });
    expect(upstream.requests.at(-1)?.headers['x-real-ip']).toBe('203.0.113.7');
  });

  it('writes one line for each request, without key, query or content', async () => {
    await using upstream = await startScriptedUpstream(jsonReply({ canary: 'reply' }, 200, { 'x-request-id': 'r1' }));
    await using addin = await startAddinProcess(['--upstream', upstream.url]);
    await sendRequest(addin.url, { ...post, path: `${messagesPath}?key=canary-query` });
    await sendRequest(addin.url, { method: 'GET', path: '/sk-canary-in-the-path' });
    await addin.said(/"status":404/);
    const lines = addin.output.stdout.split('\n').filter((line) => line.includes('"msg":"request"'));
    const [forwarded, refused] = lines.map((line) => JSON.parse(line) as object);
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
    expect(refused).toMatchObject({ path: '/***', status: 404 });
    expect(addin.output.stdout).not.toMatch(/canary/);
  });

  it('says in its log why a service cannot be reached', async () => {
    await using addin = await startAddinProcess(['--upstream', 'http://127.0.0.1:9'], { LOG_LEVEL: 'warn' });
    expect((await sendRequest(addin.url, post)).status).toBe(502);
    await addin.said(/"level":"warn".*"status":502,"outcome":"failed".*"fault":"connect","cause":"ECONNREFUSED"/);
  });

  it('lets open streams end when it is told to stop, and then ends with 0', async () => {
    const goOn = Promise.withResolvers<void>();
    await using upstream = await startHeldUpstream(goOn.promise);
    await using addin = await startAddinProcess(['--upstream', upstream.url]);
    const caller = new RawCaller(addin.url);
    caller.send(`POST ${messagesPath} HTTP/1.1\r\nHost: g\r\n\r\n`);
    await caller.until(/one/);
    addin.kill('SIGTERM');
    await addin.said(/"msg":"stopping","?.*open_calls"?:1|"open_calls":1.*"msg":"stopping"/);
    goOn.resolve();
    await caller.closed;
    expect(caller.text).toMatch(/\[DONE\]\n\n\r\n0\r\n\r\n$/);
    expect(await addin.ended).toBe(0);
  });

  it('breaks off what takes too long', async () => {
    await using upstream = await startScriptedUpstream(silence);
    await using addin = await startAddinProcess(['--upstream', upstream.url], { PARLEY_DRAIN_MS: '200' });
    const answer = sendRequest(addin.url, post);
    const { closed } = await upstream.request(0);
    addin.kill('SIGINT');
    await expect(answer).rejects.toThrow();
    expect((await closed).early).toBe(true);
    expect(await addin.ended).toBe(0);
  });

  it('says on stderr why it cannot start, and ends', async () => {
    const mistaken = await runCommand(['addin', '--port', '0']);
    expect([mistaken.code, mistaken.stdout, mistaken.stderr]).toEqual([2, '', expect.stringMatching(/requires --upstream URL/)]);
    const models = await fileOf('faulty.json', '[{"id": "a"}]');
    const refused = await runCommand(['addin', '--upstream', 'http://h', '--models', models]);
    expect([refused.code, refused.stdout, refused.stderr]).toEqual([
      1,
      '',
      expect.stringMatching(/faulty\.json: \[0\]\.display_name/),
    ]);
    expect(refused.stderr).not.toMatch(/\n\s+at /);
  });

  it('tells its flags in --help', async () => {
    const { code, stdout } = await runCommand(['addin', '--help']);
    expect(code).toBe(0);
    for (const flag of ['--upstream', '--models', '--allowed-origin', '--trusted-proxy', '--tls-cert'])
      expect(stdout).toContain(flag);
  });

  it('serves HTTPS, and reads the certificate anew when it changes', async () => {
    await using upstream = await startScriptedUpstream(jsonReply({}));
    const [cert, key] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
    const put = async (name: string): Promise<void> => {
      await copyFile(join(fixtures, `${name}-key.pem`), key);
      await copyFile(join(fixtures, `${name}-cert.pem`), cert);
    };
    await put('first');
    await using addin = await startAddinProcess(['--upstream', upstream.url, '--tls-cert', cert, '--tls-key', key]);
    expect(addin.url).toMatch(/^https:/);
    expect(await shown(addin.url)).toEqual({
      name: 'first.parley.test',
      status: 200,
      strictTransport: 'max-age=31536000',
    });
    expect(upstream.requests[0]?.headers['x-forwarded-proto']).toBe('https');
    await put('second');
    await vi.waitUntil(async () => (await shown(addin.url)).name === 'second.parley.test', { interval: 50, timeout: 10_000 });
  });
});

/** Returns the name in the certificate of the gateway, the response status, and the `Strict-Transport-Security` header. */
function shown(url: string): Promise<{ name: string; status: number; strictTransport: string | undefined }> {
  return new Promise((resolve, reject) => {
    const asking = request(`${url}${messagesPath}`, { method: 'POST', rejectUnauthorized: false, agent: false }, (response) => {
      const { CN: name } = (response.socket as TLSSocket).getPeerCertificate().subject;
      response.resume();
      const strictTransport = response.headers['strict-transport-security'];
      resolve({ name: String(name), status: response.statusCode ?? 0, strictTransport });
    });
    asking.on('error', reject).end();
  });
}
