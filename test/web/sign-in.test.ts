import type { BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { callerKey, type TestService } from '#test/start-service.ts';
import { audience, type OidcServer, startOidcServer } from '../identity/oidc-server.ts';
import { AdjustableClock, requestUserInfo } from '../identity/support.ts';
import { startBrowser, startPageService, type TestBrowser, type TestPage } from './support.ts';
import { findViolations, viewports } from './violations.ts';

const clock = new AdjustableClock();
const upstreams = [{ protocol: 'demo' }];
const signInEntry = { clientId: 'page', displayName: 'Example Corp', scopes: ['openid', 'use'] };
let browser: TestBrowser;
let service: TestService;
let oidc: OidcServer;

function configure(providerFields: object = {}, signIn: object = {}): void {
  const provider = { issuer: oidc.issuer, audience, rolesClaim: 'realm_access.roles', ...providerFields };
  service.reload({
    models: {
      demo: { displayName: 'Demo', upstreams },
      staffed: { displayName: 'For staff', upstreams, userRoles: ['staff'] },
    },
    identityProviders: { corporate: { ...provider, signIn: { ...signInEntry, ...signIn } } },
  });
}

beforeAll(async () => {
  browser = await startBrowser();
  service = await startPageService({}, { clock });
  oidc = await startOidcServer((user) => (user === 'ada' ? ['staff'] : []), `${service.url}/`);
});

beforeEach(() => configure());

afterAll(async () => {
  await service.close();
  await oidc.stop();
});

async function open(place = '/', options?: BrowserContextOptions): Promise<TestPage> {
  return browser.open(`${service.url}${place}`, options);
}

async function goToProvider(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Sign in with Example Corp' }).click();
  await page.getByLabel('User').waitFor();
}

async function signIn(page: Page, user: string): Promise<void> {
  await goToProvider(page);
  await page.getByLabel('User').fill(user);
  await page.getByRole('button', { name: 'Continue' }).click();
}

async function openAs(user: string, place = '/'): Promise<TestPage> {
  const opened = await open(place);
  await signIn(opened.page, user);
  await opened.page.getByRole('navigation').waitFor();
  return opened;
}

/** Returns the redirect address of the provider without following it. */
async function getReturnAddress(page: Page): Promise<URL> {
  await goToProvider(page);
  const { request } = page.context();
  let answer = await request.post(page.url(), { form: { user: 'ada' }, maxRedirects: 0 });
  for (;;) {
    const next = new URL(answer.headers().location ?? '', answer.url());
    if (next.origin === service.url) return next;
    answer = await request.get(next.href, { maxRedirects: 0 });
  }
}

const readAlert = (page: Page) => page.locator('[role=alert]:not(:empty)').first().textContent();
const readSessionKeys = (page: Page) => page.evaluate('Object.keys(sessionStorage)');
const changeSession = (page: Page, name: string, change: string) =>
  page.evaluate(
    `sessionStorage['${name}'] = JSON.stringify(((it) => { ${change}; return it; })(JSON.parse(sessionStorage['${name}'])))`,
  );
const readRefreshToken = (page: Page) =>
  page.evaluate("JSON.parse(sessionStorage['parley sign-in']).tokens.refresh") as Promise<string>;
const getRevocationUrl = () => `${oidc.issuer}/token/revocation`;
const countTokenRequests = () => oidc.asked.filter((path) => path === '/token').length;

/** Opens the page with an access token that the service no longer accepts but that the page does not renew yet. */
async function openWithExpiredToken(refresh?: string): Promise<TestPage> {
  const aheadSeconds = (clock.epochMs() - Date.now()) / 1000;
  oidc.tokensLive(60 + Math.round(aheadSeconds));
  const opened = await openAs('ada');
  oidc.tokensLive(600);
  if (refresh !== undefined) {
    await changeSession(opened.page, 'parley sign-in', `it.tokens.refresh = '${refresh}'`);
    await opened.page.reload();
    await opened.page.getByRole('navigation').waitFor();
  }
  clock.advance(91_000);
  return opened;
}

describe('signing in with the identity provider', () => {
  it('lets the user chat with their identity, keeps tokens only in the tab, and contacts only the provider', async () => {
    const { page, sendMessage, readAnswer, issues } = await openAs('ada');
    const who = page.waitForRequest(/chat\/completions/);
    await sendMessage('Count to 2');
    expect(await readAnswer()).not.toBe('');
    const token = (await who).headers().authorization?.replace('Bearer ', '') ?? '';
    expect((await requestUserInfo(service, token)).json).toMatchObject({ user: 'ada', roles: ['staff'] });
    expect(page.url()).toMatch(/^[^?]*$/);
    expect(await readSessionKeys(page)).toEqual(['parley sign-in']);
    expect(await page.evaluate('JSON.stringify(sessionStorage)')).toContain(token);
    expect(await page.evaluate('JSON.stringify(localStorage)')).not.toMatch(/sign-in|eyJ|refresh/);
    expect(issues.externalRequests.filter((url) => !url.startsWith(`${oidc.issuer}/`))).toEqual([]);
    expect(issues.errors).toEqual([]);
  });

  it('lists the deployments that the roles of the token allow', async () => {
    const countStaffOptions = async (user: string) => {
      const { page } = await openAs(user);
      await page.locator('.picker').click();
      await page.locator('.option', { hasText: 'Demo' }).waitFor();
      return page.locator('.option', { hasText: 'For staff' }).count();
    };
    expect([await countStaffOptions('ada'), await countStaffOptions('bob')]).toEqual([1, 0]);
  });

  it('returns to the page where it started, and lasts for a reload and for another tab', async () => {
    const { page } = await openAs('ada', '/#/consent');
    expect(page.url()).toBe(`${service.url}/#/consent`);
    const requestCount = countTokenRequests();
    await page.reload();
    await page.getByRole('heading', { name: 'Application permissions' }).waitFor();
    expect(countTokenRequests()).toBe(requestCount);
    const other = await page.context().newPage();
    await other.goto(service.url);
    await other.locator('#message').waitFor();
    expect(countTokenRequests()).toBe(requestCount);
  });

  it('leaves sign-in with a key available', async () => {
    const { page } = await open();
    await page.getByLabel('Key').fill('wrong');
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByRole('alert').getByText('That key doesn’t work').waitFor();
    await page.getByLabel('Key').fill(callerKey);
    await page.keyboard.press('Enter');
    await page.locator('#message').waitFor();
    expect(await readSessionKeys(page)).toEqual(['parley key of', 'parley key']);
  });

  it('sends the id_token if the service expects it', async () => {
    configure({ audience: 'page' }, { token: 'id_token' });
    const { page } = await openAs('bob');
    await page.locator('#message').waitFor();
  });

  it.each(viewports)('has no accessibility violations and works with the keyboard only: %s', async (_look, options) => {
    const { page } = await open('/', options);
    await page.getByLabel('Key').waitFor();
    expect(await findViolations(page)).toEqual([]);
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.getByLabel('User').waitFor();
  });
});

describe('the response of the identity provider', () => {
  it('is rejected if its state differs, and its code is not sent to the provider', async () => {
    const { page } = await open();
    const address = await getReturnAddress(page);
    const requestCount = countTokenRequests();
    address.searchParams.set('state', 'forged');
    await page.goto(address.href);
    expect(await readAlert(page)).toBe('This sign-in was not started in this tab, or it took too long. Start again.');
    expect([await readSessionKeys(page), countTokenRequests(), page.url()]).toEqual([[], requestCount, `${service.url}/`]);
  });

  it('is accepted only in the tab that started the sign-in, and only once', async () => {
    const { page } = await open();
    const address = await getReturnAddress(page);
    const other = await open(`${address.pathname}${address.search}`);
    expect(await readAlert(other.page)).toContain('not started in this tab');
    await page.goto(address.href);
    await page.locator('#message').waitFor();
    await page.goto(address.href);
    expect(await readAlert(page)).toContain('not started in this tab');
  });

  it.each([
    ['names another issuer', (address: URL) => address.searchParams.set('iss', 'https://other.example')],
    ['names no issuer although the provider announces it', (address: URL) => address.searchParams.delete('iss')],
  ])('is ignored if it %s', async (_what, change) => {
    const { page } = await open();
    const address = await getReturnAddress(page);
    const requestCount = countTokenRequests();
    change(address);
    await page.goto(address.href);
    expect(await readAlert(page)).toBe('The sign-in response is not from Example Corp and was ignored. Sign in again.');
    expect(countTokenRequests()).toBe(requestCount);
  });

  it('is rejected by the provider if the verifier differs, and by the page if the nonce differs', async () => {
    const { page } = await open();
    const first = await getReturnAddress(page);
    await page.goto(service.url);
    await changeSession(page, 'parley sign-in begun', "it.verifier = 'x'.repeat(43)");
    await page.goto(first.href);
    expect(await readAlert(page)).toContain('Start again.');
    const fresh = await open();
    const second = await getReturnAddress(fresh.page);
    await fresh.page.goto(service.url);
    await changeSession(fresh.page, 'parley sign-in begun', "it.nonce = 'other'");
    await fresh.page.goto(second.href);
    expect(await readAlert(fresh.page)).toBe('The sign-in response from Example Corp cannot be used. Tell your administrator.');
    expect(await readSessionKeys(fresh.page)).toEqual([]);
  });

  it('shows an error after the user cancels, and a new sign-in returns to the same page', async () => {
    const { page } = await open('/#/consent');
    await goToProvider(page);
    await page.getByRole('button', { name: 'Cancel' }).click();
    expect(await readAlert(page)).toBe('The sign-in was canceled or declined at Example Corp.');
    expect(page.url()).toBe(`${service.url}/#/consent`);
    await signIn(page, 'ada');
    await page.getByRole('heading', { name: 'Application permissions' }).waitFor();
  });

  it('quotes the provider for a configuration error', async () => {
    configure({}, { parameters: { prompt: 'unheard-of' } });
    const { page } = await open();
    await page.getByRole('button', { name: 'Sign in with Example Corp' }).click();
    expect(await readAlert(page)).toMatch(/^Example Corp rejected the sign-in: .*\(invalid_request\)$/);
  });

  it('shows the reason if the service rejects the token', async () => {
    configure({ audience: 'another' });
    const { page } = await open();
    await signIn(page, 'ada');
    expect(await readAlert(page)).toBe(
      'The service did not accept the sign-in from Example Corp. Tell your administrator: The token was issued for a different audience.',
    );
    expect(await readSessionKeys(page)).toEqual([]);
  });
});

describe('an unreachable identity provider', () => {
  const blockTokenRequests = ({ page }: TestPage) => page.route(`${oidc.issuer}/token`, (route) => route.abort());

  it('is reported when the user starts the sign-in, and keys still work', async () => {
    configure({ issuer: 'http://127.0.0.1:1' });
    const { page } = await open(`/#key=${callerKey}`);
    await page.locator('#message').waitFor();
    await page.getByRole('button', { name: 'Settings', exact: true }).click();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.locator('.question-dialog .danger').click();
    await page.getByRole('button', { name: 'Sign in with Example Corp' }).click();
    expect(await readAlert(page)).toBe('Example Corp cannot be reached right now. Try again in a moment.');
    expect(page.url()).not.toContain('127.0.0.1:1/');
  });

  it('is reported when the page exchanges the code', async () => {
    const opened = await open();
    await blockTokenRequests(opened);
    await signIn(opened.page, 'ada');
    expect(await readAlert(opened.page)).toMatch(/^Example Corp does not respond to this page\./);
  });

  it('does not end the session during a token renewal: the page uses the old token and retries later', async () => {
    const opened = await openAs('ada');
    await blockTokenRequests(opened);
    const { page } = opened;
    await page.evaluate('(() => { const now = Date.now; Date.now = () => now() + 571_000; })()');
    await page.evaluate("location.hash = '#/consent'");
    await page.getByText('You have not given any permissions.').waitFor();
    await page.unroute(`${oidc.issuer}/token`);
    const renewed = page.waitForResponse(`${oidc.issuer}/token`);
    await page.evaluate("location.hash = '#/build'");
    expect((await renewed).status()).toBe(200);
    expect(await page.getByText('Your session has expired.').count()).toBe(0);
  });
});

describe('tokens that expire', () => {
  it('are renewed once before they expire, even with several requests', async () => {
    const { page } = await openAs('ada');
    const requestCount = countTokenRequests();
    await page.evaluate('(() => { const now = Date.now; Date.now = () => now() + 571_000; })()');
    await page.evaluate("location.hash = '#/build'");
    await page.getByRole('heading').first().waitFor();
    await page.evaluate("location.hash = '#/consent'");
    await expect.poll(countTokenRequests).toBe(requestCount + 1);
    await page.reload();
    await page.getByRole('heading', { name: 'Application permissions' }).waitFor();
    expect(countTokenRequests()).toBe(requestCount + 1);
  });

  it('are renewed if the service rejects them, and the request is retried', async () => {
    const { page, sendMessage, readAnswer } = await openWithExpiredToken();
    const requestCount = countTokenRequests();
    await sendMessage('Count to 2');
    expect(await readAnswer()).not.toBe('');
    expect(countTokenRequests()).toBe(requestCount + 1);
    expect(await page.getByText('Your session has expired.').count()).toBe(0);
  });

  it('end the session if the renewal fails, and a new sign-in returns to the same page', async () => {
    const { page } = await openWithExpiredToken('gone');
    await page.evaluate("location.hash = '#/consent'");
    await page.getByText('Your session has expired.').waitFor();
    await page.getByRole('button', { name: 'Sign in again' }).click();
    await page.getByRole('heading', { name: 'Application permissions' }).waitFor();
    expect(await page.getByText('Your session has expired.').count()).toBe(0);
    expect(page.url()).toBe(`${service.url}/#/consent`);
  });

  it('lead to the sign-in form if they expired before the page was opened', async () => {
    const { page } = await openWithExpiredToken('gone');
    await page.reload();
    expect(await readAlert(page)).toBe('Your session has expired.');
    expect(await readSessionKeys(page)).toEqual([]);
  });
});

async function signOut(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Settings', exact: true }).click();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.locator('.question-dialog .danger').click();
  await page.getByText('You are signed out here.').waitFor();
}

/** Sends a refresh token of the page to the provider. Returns the error code, if any. */
async function useRefreshToken(token: string): Promise<unknown> {
  const body = new URLSearchParams({ grant_type: 'refresh_token', refresh_token: token, client_id: 'page' });
  return ((await (await fetch(`${oidc.issuer}/token`, { method: 'POST', body })).json()) as { error?: string }).error;
}

describe('signing out', () => {
  it('clears the tab, revokes the refresh token, and offers to sign out at the provider', async () => {
    const { page, issues } = await openAs('ada');
    const refresh = await readRefreshToken(page);
    const revoked = page.waitForResponse(getRevocationUrl());
    await signOut(page);
    expect(await readSessionKeys(page)).toEqual([]);
    expect((await revoked).status()).toBe(200);
    expect(await useRefreshToken(refresh)).toBe('invalid_grant');
    expect(issues.errors).toEqual([]);
    await page.getByRole('button', { name: 'Sign out of Example Corp too' }).click();
    await page.waitForURL(`${oidc.issuer}/session/end?*`);
    expect(new URL(page.url()).searchParams.get('client_id')).toBe('page');
    await page.goto(service.url);
    await page.getByRole('button', { name: 'Sign in with Example Corp' }).waitFor();
  });

  it('does not wait for a provider that does not respond to the revocation', async () => {
    const { page } = await openAs('ada');
    const refresh = await readRefreshToken(page);
    await page.route(getRevocationUrl(), () => undefined);
    await signOut(page);
    expect(await readSessionKeys(page)).toEqual([]);
    expect(await useRefreshToken(refresh)).toBeUndefined();
  });

  it('takes effect during a token renewal and revokes the renewed token too', async () => {
    const { page } = await openAs('ada');
    await page.route(getRevocationUrl(), (route) => route.abort(), { times: 1 });
    const gate = Promise.withResolvers<void>();
    await page.route(`${oidc.issuer}/token`, async (route) => {
      await gate.promise;
      await route.continue();
    });
    await page.evaluate('(() => { const now = Date.now; Date.now = () => now() + 571_000; })()');
    const renewing = page.waitForRequest(`${oidc.issuer}/token`);
    await page.evaluate("location.hash = '#/consent'");
    await renewing;
    await signOut(page);
    const renewed = page.waitForResponse(`${oidc.issuer}/token`);
    const [consentRequest, revoked] = [page.waitForRequest(/v1\/consent/), page.waitForResponse(getRevocationUrl())];
    gate.resolve();
    const { refresh_token: fresh } = (await (await renewed).json()) as { refresh_token: string };
    await consentRequest;
    await revoked;
    expect(await useRefreshToken(fresh)).toBe('invalid_grant');
    expect(await readSessionKeys(page)).toEqual([]);
  });
});

it('allows only the service and the token endpoint in the content security policy', async () => {
  const answer = await service.app.inject('/');
  const policy = String(answer.headers['content-security-policy']);
  expect(policy).toContain(`connect-src 'self' ${oidc.issuer};`);
  expect(policy.replace(` ${oidc.issuer};`, ';')).not.toMatch(/unsafe|https?:|\*/);
  service.reload({});
  const plain = await service.app.inject({ url: '/', headers: { 'if-none-match': String(answer.headers.etag) } });
  expect([plain.statusCode, plain.headers['content-security-policy']]).toEqual([200, policy.replace(` ${oidc.issuer};`, ';')]);
});
