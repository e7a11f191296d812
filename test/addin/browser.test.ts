import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findFreePort, waitUntilListening } from '#test/listening.ts';
import { errorReply, jsonReply, startScriptedUpstream } from '#test/scripted-upstream.ts';
import { startAddinProcess } from './addin-process.ts';
import { messagesPath, startGateway, startHeldUpstream } from './support.ts';

/** Serves an empty page as the origin of the add-in. */
const pages = createServer((_request, response) => response.end('<!doctype html><title>add-in</title>'));
let browser: Browser;
let pageOrigin = '';

beforeAll(async () => {
  browser = await chromium.launch({ executablePath: '/usr/bin/chromium-headless-shell', args: ['--no-sandbox'] });
  await waitUntilListening(pages.listen(0, '127.0.0.1'));
  pageOrigin = `http://127.0.0.1:${(pages.address() as AddressInfo).port}`;
});

afterAll(async () => {
  await browser?.close();
  pages.close();
});

/** Opens a page of the add-in's origin in a new browser context. */
async function openPage() {
  const context = await browser.newContext({ ignoreHTTPSErrors: true });
  const page = await context.newPage();
  await page.goto(pageOrigin);
  return { context, page, [Symbol.asyncDispose]: () => context.close() };
}

/** Calls the URL from a page as an add-in does: with credentials, and with headers that require a preflight. */
function call(page: Page, url: string) {
  return page.evaluate(async (target) => {
    try {
      const headers = { 'x-api-key': 'the-key', 'content-type': 'application/json', 'msgapi-version': '2023-06-01' };
      const response = await fetch(target, { method: 'POST', credentials: 'include', headers, body: '{"stream":true}' });
      return { status: response.status, text: await response.text() };
    } catch (error) {
      return { status: 0, text: String(error) };
    }
  }, url);
}

describe('a page of another origin in a browser', () => {
  it('reads a stream while it arrives, and sends its key and credentials', async () => {
    const continueStream = Promise.withResolvers<void>();
    await using upstream = await startHeldUpstream(continueStream.promise);
    await using gateway = await startGateway(upstream.url);
    await using window = await openPage();
    const first = await window.page.evaluate(async (target) => {
      const headers = { 'x-api-key': 'the-key', 'content-type': 'application/json', 'x-core-cache-policy': 'cache-priority' };
      const response = await fetch(target, { method: 'POST', credentials: 'include', headers, body: '{}' });
      const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
      Object.assign(globalThis, { reader });
      return (await reader?.read())?.value;
    }, gateway.url + messagesPath);
    expect(first).toBe('data: one\n\n');
    continueStream.resolve();
    const rest = await window.page.evaluate(async () => {
      const { reader } = globalThis as unknown as { reader: ReadableStreamDefaultReader<string> };
      const read = [await reader.read(), await reader.read()];
      return read.map(({ value, done }) => value ?? done);
    });
    expect(rest).toEqual(['data: [DONE]\n\n', true]);
    expect(upstream.requests.map(({ method }) => method)).toEqual(['POST']);
    expect(upstream.requests[0]?.headers).toMatchObject({
      'api-key': 'the-key',
      'x-api-key': '',
      'x-core-cache-policy': 'cache-priority',
      origin: pageOrigin,
    });
  });

  it('reads upstream errors, gateway errors, 404 responses, and the list of models', async () => {
    await using upstream = await startScriptedUpstream(errorReply(429));
    await using gateway = await startGateway(upstream.url);
    await using unconnected = await startGateway(`http://127.0.0.1:${await findFreePort()}`);
    await using window = await openPage();
    expect(await call(window.page, gateway.url + messagesPath)).toMatchObject({
      status: 429,
      text: expect.stringMatching(/upstream says 429/),
    });
    expect(await call(window.page, unconnected.url + messagesPath)).toMatchObject({ status: 502 });
    expect(await call(window.page, `${gateway.url}/v1/messages`)).toMatchObject({ status: 404 });
    const list = await window.page.evaluate(
      async (target) => (await fetch(target, { credentials: 'include' })).json() as Promise<unknown>,
      `${gateway.url}/msgapi/v1/models`,
    );
    expect(list).toEqual({ data: [], object: 'list', has_more: false });
  });

  it('sends no cookies to the upstream and receives none from it', async () => {
    await using upstream = await startScriptedUpstream(jsonReply({}, 200, { 'set-cookie': 'theirs=1; Path=/' }));
    await using gateway = await startGateway(upstream.url);
    await using window = await openPage();
    await window.context.addCookies([{ name: 'mine', value: '1', url: gateway.url }]);
    expect(await call(window.page, gateway.url + messagesPath)).toMatchObject({ status: 200 });
    expect(upstream.requests[0]?.headers).not.toHaveProperty('cookie');
    expect((await window.context.cookies()).map(({ name }) => name)).toEqual(['mine']);
  });

  it.each([
    ['is rejected if its origin is not on the allowlist', false],
    ['is served if its origin is on the allowlist', true],
  ])('%s', async (_title, isListed) => {
    await using upstream = await startScriptedUpstream(jsonReply({}));
    await using gateway = await startGateway(upstream.url, {
      allowedOrigins: ['https://addin.example', ...(isListed ? [pageOrigin] : [])],
    });
    await using window = await openPage();
    expect(await call(window.page, gateway.url + messagesPath)).toMatchObject({ status: isListed ? 200 : 0 });
    // The browser sends a simple request without a preflight, and only withholds its response from the page.
    await window.page.evaluate(
      (target) => fetch(target, { method: 'POST', mode: 'no-cors', body: 'x' }),
      gateway.url + messagesPath,
    );
    expect(upstream.requests).toHaveLength(isListed ? 2 : 0);
  });

  it('receives an error if a stream breaks off', async () => {
    await using upstream = await startScriptedUpstream(async (exchange) => {
      exchange.head();
      await exchange.bytes('data: one\n\n');
      exchange.destroyConnection();
    });
    await using gateway = await startGateway(upstream.url);
    await using window = await openPage();
    expect(await call(window.page, gateway.url + messagesPath)).toMatchObject({
      status: 0,
      text: expect.stringMatching(/TypeError/),
    });
  });

  it('cancels the upstream request when it closes', async () => {
    await using upstream = await startScriptedUpstream(async (exchange) => {
      exchange.head();
      await exchange.bytes('data: one\n\n');
    });
    await using gateway = await startGateway(upstream.url);
    await using window = await openPage();
    const reading = call(window.page, gateway.url + messagesPath).catch(() => undefined);
    const { closed } = await upstream.request(0);
    await window.page.close();
    expect((await closed).early).toBe(true);
    await reading;
  });

  it('can call the gateway over HTTPS', async () => {
    await using upstream = await startScriptedUpstream(jsonReply({ id: 'reply' }));
    const file = (name: string): string => new URL(`../process/fixtures/${name}.pem`, import.meta.url).pathname;
    const flags = ['--upstream', upstream.url, '--tls-cert', file('first-cert'), '--tls-key', file('first-key')];
    await using addin = await startAddinProcess(flags);
    await using window = await openPage();
    expect(await call(window.page, addin.url + messagesPath)).toEqual({ status: 200, text: '{"id":"reply"}' });
  });
});
