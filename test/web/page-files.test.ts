import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type PageFixture, startPageFixture } from './support.ts';

let fixture: PageFixture;

beforeAll(async () => {
  fixture = await startPageFixture();
});

afterAll(() => fixture[Symbol.asyncDispose]());

const get = (url: string, headers: Record<string, string> = {}) => fixture.service.app.inject({ url, headers });

/** Returns the addresses of the assets that the page loads first. */
async function listFirstAssets(): Promise<readonly string[]> {
  const { body } = await get('/');
  return [...body.matchAll(/(?:src|href)="\.(\/assets\/[^"]+)"/g)].map(([, address]) => address ?? '');
}

describe('the page files', () => {
  it('are served without a key and with a policy that allows no inline and no external sources', async () => {
    const answer = await get('/');
    expect([answer.statusCode, answer.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
    const policy = String(answer.headers['content-security-policy']);
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("connect-src 'self'");
    expect(policy).not.toMatch(/unsafe|https?:|\*/);
    expect(answer.headers).toMatchObject({
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-cache',
    });
  });

  it('may not be stored by browsers if the operator turns that off', async () => {
    const before = fixture.service.snapshot.current().configuration;
    fixture.service.snapshot.replace({ ...before, page: { ...before.page, offline: false } });
    try {
      expect((await get('/')).headers['cache-control']).toBe('no-store');
    } finally {
      fixture.service.snapshot.replace(before);
    }
  });

  it('include immutable assets, compressed with an encoding that the browser accepts', async () => {
    const assets = await listFirstAssets();
    expect(assets.length).toBeGreaterThanOrEqual(2);
    for (const asset of assets) {
      const plain = await get(asset);
      expect(plain.headers['cache-control']).toBe('public, max-age=31536000, immutable');
      expect(plain.headers['content-encoding']).toBeUndefined();
      for (const [acceptEncoding, encoding] of [
        ['gzip, br', 'br'],
        ['gzip', 'gzip'],
        ['br;q=0, gzip', 'gzip'],
        ['br;q=0', undefined],
      ] as const) {
        const packed = await get(asset, { 'accept-encoding': acceptEncoding });
        expect([acceptEncoding, packed.headers['content-encoding'], packed.headers.vary]).toEqual([
          acceptEncoding,
          encoding,
          'accept-encoding',
        ]);
      }
      expect((await get(asset, { 'if-none-match': String(plain.headers.etag) })).statusCode).toBe(304);
    }
  });

  it('include the typeface at a stable address for the API reference, revalidated on each use', async () => {
    const { statusCode, headers, rawPayload } = await get('/typeface.woff2');
    expect([statusCode, headers['content-type'], headers['cache-control']]).toEqual([200, 'font/woff2', 'no-cache']);
    expect(rawPayload.subarray(0, 4).toString()).toBe('wOF2');
    expect((await get('/typeface.woff2', { 'if-none-match': String(headers.etag) })).statusCode).toBe(304);
  });

  it('load at most 180 kB of compressed script first', async () => {
    const scripts = (await listFirstAssets()).filter((asset) => asset.endsWith('.js'));
    const sizes = await Promise.all(
      scripts.map(async (script) => (await get(script, { 'accept-encoding': 'gzip' })).rawPayload.length),
    );
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(180_000);
  });

  it('do not shadow API paths', async () => {
    for (const path of ['/index', '/assets', '/assets/', '/assets/../package.json', '/chat', '/.stamp', '/v1']) {
      expect([path, (await get(path)).statusCode]).toEqual([path, 404]);
    }
    expect((await get('/openai/deployments')).statusCode).toBe(401);
  });
});
