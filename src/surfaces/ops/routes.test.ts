import { gunzipSync } from 'node:zlib';
import fastify from 'fastify';
import { describe, expect, test } from 'vitest';
import { rejectWhileDraining } from '#app/process/drain.ts';
import { measureHttp } from '#app/serve.ts';
import { toErrorBody, toParleyError } from '#contract/errors/errors.ts';
import { opsOperations } from './openapi.ts';
import { type OpsDeps, opsRoutes } from './routes.ts';

const issue = { code: 'configuration_refused', message: 'models.gpt.upstreams: at least one is needed.' };

function createApp(overrides: Partial<OpsDeps> = {}) {
  const app = fastify();
  opsRoutes(app, {
    version: '0.1.0',
    uptimeSeconds: () => 12.345,
    listIssues: () => [],
    listObstacles: () => [],
    readMetrics: async (accept) => ({ contentType: accept ?? 'text/plain; version=0.0.4; charset=utf-8', text: 'up 1\n' }),
    operations: opsOperations,
    ...overrides,
  });
  return app;
}

describe('/health', () => {
  test('reports ok without problems', async () => {
    const answer = await createApp().inject('/health');
    expect(answer.statusCode).toBe(200);
    expect(answer.headers['cache-control']).toBe('no-store');
    expect(answer.json()).toEqual({ status: 'ok', version: '0.1.0', uptimeSeconds: 12.3, reasons: [] });
  });

  test('reports degraded with its reasons and status 200', async () => {
    const answer = await createApp({ listIssues: () => [issue] }).inject('/health');
    expect(answer.statusCode).toBe(200);
    expect(answer.json()).toMatchObject({ status: 'degraded', reasons: [issue] });
  });
});

describe('/ready', () => {
  test('returns 200 if the node accepts calls', async () => {
    const answer = await createApp({ listIssues: () => [issue] }).inject('/ready');
    expect([answer.statusCode, answer.json()]).toEqual([200, { status: 'ready', reasons: [] }]);
  });

  test('returns 503 with the reason if the node does not accept calls', async () => {
    const reasons = [{ code: 'stopping', message: 'The node is stopping.' }];
    const answer = await createApp({ listObstacles: () => reasons }).inject('/ready');
    expect([answer.statusCode, answer.json()]).toEqual([503, { status: 'not_ready', reasons }]);
  });
});

describe('/openapi.json', () => {
  test('compresses the document for clients that accept gzip', async () => {
    const app = createApp();
    const plain = await app.inject('/openapi.json');
    const packed = await app.inject({ url: '/openapi.json', headers: { 'accept-encoding': 'gzip, br' } });
    expect([plain.headers['content-encoding'], packed.headers['content-encoding']]).toEqual([undefined, 'gzip']);
    expect(gunzipSync(packed.rawPayload).toString()).toBe(plain.body);
    expect(packed.headers.vary).toBe('accept-encoding');
  });
});

describe('/metrics', () => {
  test('returns text', async () => {
    const answer = await createApp().inject('/metrics');
    expect(answer.headers['content-type']).toBe('text/plain; version=0.0.4; charset=utf-8');
    expect(answer.body).toBe('up 1\n');
    const accept = 'application/openmetrics-text';
    expect((await createApp().inject({ url: '/metrics', headers: { accept } })).headers).toMatchObject({
      'content-type': accept,
      vary: 'accept',
    });
  });

  test('is absent if the metrics have their own port', async () => {
    expect((await createApp({ readMetrics: undefined }).inject('/metrics')).statusCode).toBe(404);
  });
});

describe('/docs', () => {
  test('contains no external URLs', async () => {
    const app = createApp();
    const page = await app.inject('/docs');
    const start = await app.inject('/docs/start.js');
    expect(page.headers['content-type']).toBe('text/html; charset=utf-8');
    for (const { body } of [page, start]) expect(body).not.toMatch(/https?:|\/\/[a-z]/i);
    expect(page.body).not.toMatch(/<script>|<style| on[a-z]+=/i);
  });

  test('allows only scripts and connections of the node', async () => {
    const policy = String((await createApp().inject('/docs')).headers['content-security-policy']);
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("script-src 'self';");
    expect(policy).toContain("connect-src 'self';");
    expect(policy).not.toContain('unsafe-eval');
  });

  test('serves the script from the package', async () => {
    const answer = await createApp().inject('/docs/scalar.js');
    expect(answer.headers['content-type']).toBe('application/javascript; charset=utf-8');
    expect(gunzipSync(answer.rawPayload).toString()).toContain('createApiReference');
  });
});

describe('rejectWhileDraining', () => {
  function createDrainingApp() {
    const app = fastify();
    let isDraining = false;
    app.setErrorHandler((cause, _request, reply) => {
      const error = toParleyError(cause);
      return reply.code(error.status).send(toErrorBody(error));
    });
    rejectWhileDraining(app, () => isDraining);
    app.get('/v1/models', async () => ({ data: [] }));
    app.get('/ready', async () => ({}));
    return {
      app,
      stop() {
        isDraining = true;
      },
    };
  }

  test('rejects new requests and closes the connection', async () => {
    const { app, stop } = createDrainingApp();
    expect((await app.inject('/v1/models')).statusCode).toBe(200);
    stop();
    const answer = await app.inject('/v1/models');
    expect([answer.statusCode, answer.json().error.code, answer.headers.connection]).toEqual([503, 'shutting_down', 'close']);
  });

  test('answers probes', async () => {
    const { app, stop } = createDrainingApp();
    stop();
    expect((await app.inject('/ready')).statusCode).toBe(200);
  });
});

describe('measureHttp', () => {
  test('counts requests by pattern, method, and status, except calls', async () => {
    const app = fastify();
    const counted: unknown[] = [];
    measureHttp(app, { recordRequest: ({ ms, ...request }) => void counted.push({ ...request, isTimed: ms >= 0 }) });
    app.get('/v1/files/*', async () => ({}));
    app.route({ method: 'GET', url: '/measured', config: { isRaw: true } as object, handler: async () => ({}) });
    await app.inject('/v1/files/secret/path.txt');
    await app.inject('/measured');
    await app.inject({ method: 'HEAD', url: '/v1/files/secret/path.txt' });
    const known = { route: '/v1/files/*', status: 200, isTimed: true };
    expect(counted).toEqual([
      { method: 'GET', ...known },
      { method: 'HEAD', ...known },
    ]);
  });
});
