import { copyFile, readFile, writeFile } from 'node:fs/promises';
import { request } from 'node:https';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { hello, plainReply } from '#test/chunks.ts';
import { findFreePort } from '#test/listening.ts';
import { errorReply, eventsReply, type ScriptedUpstream, startScriptedUpstream } from '#test/scripted-upstream.ts';
import { sendRequest } from '#test/send-request.ts';
import { runCommand, startProcess, type TestProcess } from '#test/start-process.ts';
import { callerKey } from '#test/start-service.ts';
import { openFolder } from '#test/temporary-folder.ts';

const fixtures = fileURLToPath(new URL('./fixtures', import.meta.url));
const demo = { models: { demo: { upstreams: [{ protocol: 'demo' }] } } };

function get(node: TestProcess, path: string) {
  return node.sendRequest({ method: 'GET', path });
}

describe('a running node', () => {
  let upstream: ScriptedUpstream;
  let node: TestProcess;

  beforeAll(async () => {
    upstream = await startScriptedUpstream();
    const model = { upstreams: [{ endpoint: upstream.endpoint, key: 'canary-key' }] };
    node = await startProcess({ configuration: { models: { m: model, limited: model, faulty: model } } });
  });

  afterAll(async () => {
    await node[Symbol.asyncDispose]();
    await upstream.close();
  });

  it('reports health and readiness without credentials', async () => {
    const health = await get(node, '/health');
    expect([health.status, health.json]).toMatchObject([200, { status: 'ok', reasons: [] }]);
    const ready = await get(node, '/ready');
    expect([ready.status, ready.json]).toMatchObject([200, { status: 'ready', reasons: [] }]);
    expect((await node.sendRequest({ method: 'POST', path: '/health' })).status).toBe(405);
    expect((await get(node, '/openapi.json')).json).toMatchObject({ openapi: expect.stringMatching(/^3\./) });
    expect((await get(node, '/docs')).text).toMatch(/<html/i);
  });

  it('exports metrics without caller IDs, keys, or contents', async () => {
    upstream.script(eventsReply(...plainReply('canary of the reply')));
    await (await node.stream('m', { messages: [{ role: 'user', content: 'canary of the question' }] })).readRest();
    await node.chat('no-such-deployment', { messages: hello });
    await vi.waitUntil(async () => /m\b/.test((await get(node, '/metrics')).text), { interval: 20 });
    const { text, headers, status } = await get(node, '/metrics');
    expect(status).toBe(200);
    expect(headers['content-type']).toMatch(/^text\/plain/);
    expect(text).toMatch(/^# TYPE /m);
    expect(text).not.toMatch(/canary|caller-key|no-such-deployment/);
  });

  it('exports the size of each cache', async () => {
    const { text } = await get(node, '/metrics');
    const names = [...text.matchAll(/^parley_cache_size_bytes\{parley_cache="(\w+)"\} \d+$/gm)].map(([, name]) => name);
    const expected = ['applications', 'document_vectors', 'log_callers', 'mcp_tools', 'recent_vectors', 'sign_in_ways'];
    expect(names).toEqual(expect.arrayContaining(expected));
  });

  it('exports metrics only on the metrics port if one is set', async () => {
    const port = await findFreePort();
    await using node = await startProcess({ configuration: demo, environment: { PARLEY_METRICS_PORT: String(port) } });
    expect((await get(node, '/metrics')).status).toBe(404);
    const metricsUrl = `http://127.0.0.1:${port}`;
    expect((await sendRequest(metricsUrl, { method: 'GET', path: '/metrics' })).text).toMatch(/^# TYPE /m);
    expect((await sendRequest(metricsUrl, { method: 'GET', path: '/v1/models', headers: { 'api-key': callerKey } })).status).toBe(
      404,
    );
  });

  it('reports a paused upstream in its health', async () => {
    upstream.script(errorReply(429, { 'retry-after': '60' }));
    expect((await node.chat('limited', { messages: hello })).status).toBe(429);
    const { json, text } = await get(node, '/health');
    expect(json).toMatchObject({
      status: 'degraded',
      reasons: [{ code: 'upstream_off', message: expect.stringMatching(/^limited#/) }],
    });
    expect(text).not.toContain('canary');
    expect((await get(node, '/ready')).status).toBe(200);
  });

  it('logs every call without keys or contents', async () => {
    upstream.script(errorReply(500, {}, { message: 'the upstream key canary-key is wrong' }));
    const { headers } = await node.chat('faulty', { messages: [{ role: 'user', content: 'canary of the question' }] });
    await node.untilOutput(new RegExp(String(headers['x-request-id'])));
    expect(node.output.stdout).not.toMatch(/canary|caller-key/);
    for (const line of node.output.stdout.split('\n').filter((each) => each.startsWith('{')))
      expect(JSON.parse(line)).toHaveProperty('level');
  });
});

describe('the HTTPS server', () => {
  /** Returns the name in the server certificate and the response status. */
  function getCertificate(url: string): Promise<{ name: string; status: number }> {
    return new Promise((resolve, reject) => {
      const options = { rejectUnauthorized: false, agent: false, headers: { 'api-key': callerKey } };
      const outgoing = request(`${url}/v1/models`, options, (response) => {
        const { CN: name } = (response.socket as TLSSocket).getPeerCertificate().subject;
        response.resume();
        resolve({ name: String(name), status: response.statusCode ?? 0 });
      });
      outgoing.on('error', reject).end();
    });
  }

  it.each([1, 2])('uses the configured certificate and reloads it if the files change, with %i workers', async (workers) => {
    await using temporary = await openFolder();
    const { path: folder } = temporary;
    const [cert, key] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
    const put = async (name: string): Promise<void> => {
      await copyFile(join(fixtures, `${name}-key.pem`), key);
      await copyFile(join(fixtures, `${name}-cert.pem`), cert);
    };
    await put('first');
    const flags = ['--tls-cert', cert, '--tls-key', key, '--workers', String(workers)];
    await using node = await startProcess({ configuration: demo, flags });
    expect(node.url).toMatch(/^https:/);
    expect(await getCertificate(node.url)).toEqual({ name: 'first.parley.test', status: 200 });
    await writeFile(cert, 'not a certificate');
    await node.untilOutput(/cannot reload the certificate/);
    expect((await getCertificate(node.url)).name).toBe('first.parley.test');
    await put('second');
    // The kernel distributes the connections over the workers.
    const readNames = async () => {
      const certificates = await Promise.all(Array.from({ length: 8 * workers }, () => getCertificate(node.url)));
      return new Set(certificates.map(({ name }) => name));
    };
    await vi.waitFor(async () => expect(await readNames()).toEqual(new Set(['second.parley.test'])), 10_000);
    expect(await readFile(key, 'utf8')).toContain('PRIVATE KEY');
  });

  it('sends Strict-Transport-Security with every response, which plain HTTP does not', async () => {
    const files = ['--tls-cert', join(fixtures, 'first-cert.pem'), '--tls-key', join(fixtures, 'first-key.pem')];
    await using node = await startProcess({ configuration: demo, flags: files });
    const strictTransportAt = (path: string, method = 'GET', body = ''): Promise<unknown> =>
      new Promise((resolve, reject) => {
        const headers = { 'api-key': callerKey, 'content-type': 'application/json' };
        const options = { method, rejectUnauthorized: false, agent: false, headers };
        const outgoing = request(`${node.url}${path}`, options, (response) => {
          response.resume();
          resolve([response.statusCode, response.headers['strict-transport-security']]);
        });
        outgoing.on('error', reject).end(body);
      });
    const year = 'max-age=31536000';
    const chat = JSON.stringify({ model: 'demo', messages: [{ role: 'user', content: 'hi' }] });
    const streamed = JSON.stringify({ ...JSON.parse(chat), stream: true });
    expect(await strictTransportAt('/v1/models')).toEqual([200, year]);
    expect(await strictTransportAt('/')).toEqual([200, year]);
    expect(await strictTransportAt('/nothing')).toEqual([404, year]);
    expect(await strictTransportAt('/health')).toEqual([200, year]);
    expect(await strictTransportAt('/v1/chat/completions', 'POST', chat)).toEqual([200, year]);
    expect(await strictTransportAt('/v1/chat/completions', 'POST', streamed)).toEqual([200, year]);
    expect(await strictTransportAt('/v1/chat/completions', 'POST', '{')).toEqual([400, year]);
    await using plain = await startProcess({ configuration: demo });
    expect((await fetch(`${plain.url}/health`)).headers.get('strict-transport-security')).toBeNull();
  });

  it('does not start if the certificate files are missing or do not match', async () => {
    const files = ['--tls-cert', join(fixtures, 'first-cert.pem'), '--tls-key', join(fixtures, 'second-key.pem')];
    const { code, stderr } = await runCommand(['serve', '--port', '0', ...files]);
    expect(code).toBe(1);
    expect(stderr).toMatch(/first-cert\.pem/);
    expect((await runCommand(['serve', '--tls-cert', 'x.pem'])).stderr).toMatch(/must be used together/);
    const missing = ['--tls-cert', 'nowhere.pem', '--tls-key', join(fixtures, 'first-key.pem')];
    expect((await runCommand(['serve', ...missing])).stderr).toContain('--tls-cert nowhere.pem: the file does not exist');
  });
});
