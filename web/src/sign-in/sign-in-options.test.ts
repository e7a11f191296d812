import { afterEach, expect, it, vi } from 'vitest';
import { readSignInOptions } from './sign-in-options.ts';

afterEach(() => {
  vi.unstubAllGlobals();
});

const stubResponse = (body: string, status: number): void => {
  vi.stubGlobal('fetch', async () => new Response(body, { status }));
};

it('readSignInOptions rejects if a proxy cannot reach the service', async () => {
  stubResponse('<html>Bad Gateway</html>', 502);
  await expect(readSignInOptions()).rejects.toThrow();
});

it('readSignInOptions returns the providers and whether this is the first start', async () => {
  stubResponse(JSON.stringify({ data: [{ name: 'corp' }], firstStart: true }), 200);
  expect(await readSignInOptions()).toEqual({ providers: [{ name: 'corp' }], isFirstStart: true });
});
