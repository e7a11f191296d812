import type { BrowserContextOptions } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type AdminHouse, createAuditRecord, type NodeReport, report, startAdminService } from '../admin/support.ts';
import { startBrowser, startPageService, type TestBrowser, type TestPage } from './support.ts';
import { findViolations, measureOverflow, viewports } from './violations.ts';

const maxLookMs = 60_000;
const hour = 3_600_000;
const upstream = {
  protocol: 'openai',
  displayName: null,
  region: null,
  weight: 1,
  parallel: null,
  maxParallel: null,
  tier: 0,
  failuresInARow: 0,
  refusedStatus: null,
  lastError: null,
  offUntil: null,
  state: 'ok',
} as const;

const degradedReport: NodeReport = {
  node: { version: '1.2.3', runtime: 'v26.0.0', startedAt: Date.now() - hour, now: Date.now() },
  health: { status: 'degraded', reasons: [{ code: 'upstream_off', message: 'two#2 is paused: failing' }] },
  hindrances: [],
  stores: [
    { holds: 'records', kind: 'postgres', isAway: true },
    { holds: 'files', kind: 's3', isAway: false },
    { holds: 'limits', kind: 'redis', isAway: false },
  ],
  upstreams: [
    { ...upstream, id: 'one#1', deployment: 'one', origin: 'https://one.example', model: 'one-large' },
    {
      ...upstream,
      ...{ id: 'two#2', deployment: 'two', origin: 'https://two.example', model: 'two', tier: 1 },
      ...{ state: 'failing', failuresInARow: 4, offUntil: Date.now() + hour, parallel: 3, maxParallel: 4 },
    },
    { ...upstream, id: 'app#3', deployment: 'app', protocol: 'application', origin: null, model: 'app', failuresInARow: 1 },
  ],
  queues: [{ deployment: 'two', size: 2, waitTime: 4_200 }],
  configuration: {
    files: ['/etc/parley/parley.yaml'],
    loadedAt: Date.now() - hour,
    refusedAt: Date.now(),
    faults: [
      {
        file: '/etc/parley/parley.yaml',
        path: 'models.one.upstreams[0].wieght',
        message: 'is not known',
        hint: 'did you mean weight?',
      },
    ],
    warnings: [{ file: '', path: '', message: '<img src=x onerror=alert(1)>' }],
  },
};

interface ClassElement {
  readonly className: string;
}

const chatId = '0b0d4ec5-2ae9-4a2d-9d6d-1b3a1f0c2e4f';

let house: AdminHouse;
let browser: TestBrowser;
let nodeReport: NodeReport;

beforeAll(async () => {
  browser = await startBrowser();
  house = await startAdminService(
    { models: { demo: { upstreams: [{ protocol: 'demo' }] } } },
    () => nodeReport,
    startPageService,
  );
  const actions = Array.from({ length: 60 }, (_, index) => (index % 3 === 0 ? 'credentials.refused' : 'consent.accepted'));
  await house.journal.appendAudit([
    createAuditRecord(999, 'key.rotated'),
    ...actions.map((action, index) => createAuditRecord(1000 + index, action)),
    { ...createAuditRecord(5000, 'application.saved'), subject: '<b>eve</b>', object: 'applications/x/__proto__' },
    { ...createAuditRecord(4999, 'chat.shared'), subject: 'key:ada', object: chatId, details: {} },
    { ...createAuditRecord(4998, 'application.shared'), details: { addedRoles: 'user', addedUsers: 'key:eve' } },
    { ...createAuditRecord(4997, 'credentials.refused'), details: { code: 'invalid_api_key', count: 3 } },
    { ...createAuditRecord(5001, 'moon.landed'), subject: undefined, details: {} },
  ]);
});

beforeEach(() => {
  nodeReport = degradedReport;
});

afterAll(async () => {
  await house[Symbol.asyncDispose]();
});

async function open(options?: BrowserContextOptions): Promise<TestPage> {
  const opened = await browser.open(`${house.service.url}/#key=admin-key`, options);
  await opened.page.locator('#message').waitFor();
  await opened.page.evaluate("location.hash = '#/operations'");
  await opened.page.locator('.sheet[aria-busy=false]').waitFor();
  await opened.page.locator('.audit-time').first().waitFor();
  return opened;
}

describe('the operations page', () => {
  it('shows the health problems, the stores, and the paused upstreams', async () => {
    const [one, ...others] = degradedReport.upstreams;
    nodeReport = {
      ...degradedReport,
      upstreams: [{ ...(one as typeof upstream), displayName: 'Model One' } as never, ...others],
    };
    const { page, issues } = await open();
    const health = page.getByRole('region', { name: 'Health' });
    await health.getByText('Running with problems').waitFor();
    expect(await health.locator('.reasons li').allInnerTexts()).toEqual([
      '2 connections have problems',
      'The last configuration change was rejected',
      'two#2 is paused: failing upstream_off',
    ]);
    expect(await health.locator('dd').allInnerTexts()).toEqual(['PostgreSQL · unreachable', 'S3', 'Redis']);
    const rows = page.getByRole('region', { name: 'Connections' }).locator('tbody tr');
    expect(await rows.locator('th').allInnerTexts()).toEqual(['two', 'app', expect.stringMatching(/^Model One\s+one$/)]);
    expect(await rows.first().innerText()).toMatch(
      /keeps failing\s+3 of 4 requests in progress\s+2 requests wait, the longest for 4\.2 secs?\s+paused until .*two\s+https:\/\/two\.example/s,
    );
    expect(await rows.nth(1).innerText()).toMatch(/in use\s+failed the last time/);
    expect(issues).toEqual({ externalRequests: [], errors: [] });
  });

  it('shows the rejected configuration change with the path of each error', async () => {
    const { page } = await open();
    const section = page.getByRole('region', { name: 'Configuration' });
    await section.getByText(/^The change of .* was rejected/).waitFor();
    expect(await section.locator('.configuration-issues li').allInnerTexts()).toEqual([
      expect.stringMatching(
        /^models\.one\.upstreams\[0\]\.wieght\s+is not known\. Did you mean weight\?\s+\/etc\/parley\/parley\.yaml$/,
      ),
      expect.stringMatching(/^The complete file\s+<img src=x onerror=alert\(1\)>$/),
    ]);
  });

  it('reloads its data when the user presses Refresh', async () => {
    const { page } = await open();
    nodeReport = { ...report, node: degradedReport.node };
    await page.getByRole('button', { name: 'Refresh', exact: true }).click();
    await page.getByText('All is well').waitFor();
    await page.getByText('No configuration file is set.').waitFor();
    await page.getByText('No connections are configured.').waitFor();
    expect(await page.locator('.configuration-issues').count()).toBe(0);
    nodeReport = { ...report, hindrances: [{ code: 'stopping', message: 'The node is stopping.' }] };
    await page.getByRole('button', { name: 'Refresh', exact: true }).click();
    await page.getByText('Not accepting requests').waitFor();
  });

  it('pages through the audit log and filters it with the keyboard only', async () => {
    const { page } = await open();
    const rows = page.getByRole('region', { name: 'Audit log' }).locator('tbody tr');
    expect(await rows.count()).toBe(50);
    expect(await rows.nth(0).innerText()).toContain('moon.landed');
    expect(await rows.nth(1).innerText()).toMatch(
      /Application saved\s+<b>eve<\/b>\s+__proto__\s+applications\/x\/__proto__\s+Count: 1/,
    );
    expect(await rows.nth(2).innerText()).toMatch(/Chat shared with a link\s+ada\s+Shared chat/);
    expect(await rows.nth(2).getByTitle(chatId).count()).toBe(1);
    expect(await rows.nth(3).innerText()).toMatch(/Added users: eve, Added roles: user$/);
    expect(await rows.nth(4).innerText()).toMatch(/Reason: unknown key, Count: 3$/);
    expect(await rows.nth(4).getByTitle('code: invalid_api_key').count()).toBe(1);
    await page.getByRole('button', { name: 'Show older entries' }).focus();
    await page.keyboard.press('Enter');
    await rows.nth(65).waitFor();
    expect(await page.getByRole('button', { name: 'Show older entries' }).count()).toBe(0);
    await page.getByLabel('Show', { exact: true }).focus();
    await page.keyboard.type('Cred');
    // The letters before the last one select other entries for a moment.
    await expect.poll(() => rows.count()).toBe(21);
    expect(new Set(await rows.locator('td:nth-child(2)').allInnerTexts())).toEqual(new Set(['Credentials rejected']));
    await page.getByLabel('Show', { exact: true }).selectOption('Keys');
    await rows.getByText('Key replaced').waitFor();
    await page.getByLabel('Show', { exact: true }).selectOption('Configuration');
    await page.getByText('No entries').waitFor();
  });

  it('shows an error if its data cannot be loaded, and recovers afterwards', async () => {
    const { page } = await open();
    await page.route('**/v1/admin/state', (route) =>
      route.fulfill({ status: 503, json: { error: { code: 'overloaded', message: 'The store is missing.' } } }),
    );
    await page.getByRole('button', { name: 'Refresh', exact: true }).click();
    await page.getByRole('alert').getByText('The service cannot handle the request right now.').waitFor();
    await page.getByRole('alert').locator('summary').click();
    await page.getByRole('alert').getByText('The store is missing.').waitFor();
    await page.unroute('**/v1/admin/state');
    await page.getByRole('button', { name: 'Refresh', exact: true }).click();
    await page.getByRole('alert').waitFor({ state: 'detached' });
  });

  it('links from a health problem to the section with its details', async () => {
    const { page } = await open();
    const health = page.getByRole('region', { name: 'Health' });
    await health.getByRole('button', { name: '2 connections have problems' }).focus();
    await page.keyboard.press('Enter');
    await expect.poll(() => page.evaluate('document.activeElement.textContent')).toBe('Connections');
    await health.getByRole('button', { name: 'The last configuration change was rejected' }).click();
    await expect.poll(() => page.evaluate('document.activeElement.textContent')).toBe('Configuration');
  });

  it('marks an upstream as bad if it rejected the key, and with a warning if it exceeded its rate limit', async () => {
    const [one] = degradedReport.upstreams;
    const createRejecting = (id: string, refusedStatus: number | null) =>
      ({ ...one, id, deployment: id, refusedStatus }) as never;
    nodeReport = {
      ...report,
      node: degradedReport.node,
      upstreams: [createRejecting('a', null), createRejecting('b', 429), createRejecting('c', 401)],
    };
    const { page } = await open();
    await page.getByText('Running with problems').waitFor();
    const rows = page.getByRole('region', { name: 'Connections' }).locator('tbody tr');
    expect(
      await rows.locator('.verdict').evaluateAll((all) => all.map((each) => (each as unknown as ClassElement).className)),
    ).toEqual(['verdict bad', 'verdict warning', 'verdict good']);
    expect(await rows.first().innerText()).toMatch(/rejected its key \(401\)\s+Its key is not accepted\. /);
    expect(await rows.nth(1).innerText()).toMatch(/exceeded its rate limit/);
  });

  it('filters a long list of upstreams by text and by problems', async () => {
    const [one] = degradedReport.upstreams;
    const many = Array.from({ length: 8 }, (_, nth) => ({
      ...(one as NodeReport['upstreams'][number]),
      ...{ id: `m${nth}`, deployment: `model-${nth}`, model: `large-${nth}`, failuresInARow: nth % 4 === 3 ? 2 : 0 },
    }));
    nodeReport = { ...report, node: degradedReport.node, upstreams: many };
    const { page } = await open();
    const names = () => page.getByRole('region', { name: 'Connections' }).locator('tbody th').allInnerTexts();
    expect((await names()).slice(0, 3)).toEqual(['model-3', 'model-7', 'model-0']);
    await page.getByRole('radio', { name: 'With problems (2)' }).check({ force: true });
    expect(await names()).toEqual(['model-3', 'model-7']);
    await page.getByRole('searchbox', { name: 'Filter' }).fill('LARGE-7 openai');
    expect(await names()).toEqual(['model-7']);
    await page.getByRole('searchbox', { name: 'Filter' }).fill('large-5');
    await page.getByText('No matching connections').waitFor();
  });

  it('is translated to German', async () => {
    const { page } = await open({ locale: 'de-DE' });
    await page.getByText('Läuft mit Problemen').waitFor();
    await page.getByText('Anwendung gespeichert').waitFor();
  });

  it('shows times in the form of the region of the browser', async () => {
    const { page } = await open({ locale: 'en-GB' });
    expect(await page.locator('.audit-time').last().innerText()).toMatch(/^1 Jan 1970, 00:00:0\d$/);
  });
});

describe('the automatic refresh of the operations page', () => {
  const failing: NodeReport = {
    ...degradedReport,
    upstreams: degradedReport.upstreams.map((each) => ({
      ...each,
      state: 'ok',
      offUntil: null,
      failuresInARow: each.id === 'app#3' ? 0 : 3,
    })),
  };

  async function openTimed() {
    const opened = await browser.open(`${house.service.url}/#key=admin-key`);
    const { page } = opened;
    await page.locator('#message').waitFor();
    await page.clock.install();
    await page.reload();
    await page.locator('#message').waitFor();
    let requestCount = 0;
    page.on('request', (request) => {
      if (request.url().endsWith('/v1/admin/state')) requestCount += 1;
    });
    await page.evaluate("location.hash = '#/operations'");
    await page.locator('.audit-time').first().waitFor();
    await page.locator('.as-of').waitFor();
    return { ...opened, countRequests: () => requestCount };
  }

  it('keeps the order of the rows and the focus', async () => {
    const { page, countRequests } = await openTimed();
    const rows = page.getByRole('region', { name: 'Connections' }).locator('tbody th');
    expect(await rows.allInnerTexts()).toEqual(['two', 'app', 'one']);
    await page.getByLabel('Show', { exact: true }).focus();
    nodeReport = { ...failing, node: { ...degradedReport.node, now: Date.UTC(2026, 0, 1, 12, 34, 56) } };
    await page.clock.runFor(16_000);
    await page.getByText(/^As of 12:34:56/).waitFor();
    expect(countRequests()).toBe(2);
    await page.getByRole('region', { name: 'Connections' }).getByText('failed the last 3 times').nth(1).waitFor();
    expect(await rows.allInnerTexts()).toEqual(['two', 'app', 'one']);
    expect(await page.evaluate('document.activeElement.tagName')).toBe('SELECT');
    nodeReport = {
      ...nodeReport,
      upstreams: nodeReport.upstreams.map((each) => ({ ...each, failuresInARow: each.id === 'app#3' ? 1 : 0 })),
    };
    await page.getByRole('button', { name: 'Refresh', exact: true }).click();
    await expect.poll(() => rows.allInnerTexts()).toEqual(['app', 'one', 'two']);
  });

  it('pauses while the page is hidden, while text is selected, and if the user turns it off', async () => {
    const { page, countRequests } = await openTimed();
    const hide = (isHidden: boolean) =>
      page.evaluate(`Object.defineProperty(document, 'hidden', { configurable: true, get: () => ${isHidden} });
        document.dispatchEvent(new Event('visibilitychange'))`);
    await hide(true);
    await page.clock.runFor(60_000);
    expect(countRequests()).toBe(1);
    await hide(false);
    await expect.poll(countRequests).toBe(2);
    await page.evaluate("getSelection().selectAllChildren(document.querySelector('.as-of'))");
    await page.clock.runFor(60_000);
    expect(countRequests()).toBe(2);
    await page.evaluate('getSelection().removeAllRanges()');
    await page.clock.runFor(2_000);
    await expect.poll(countRequests).toBe(3);
    await page.getByRole('checkbox', { name: 'Refresh automatically' }).uncheck();
    await page.clock.runFor(60_000);
    expect(countRequests()).toBe(3);
  });

  it('offers new audit entries and does not insert them above the visible entries', async () => {
    const { page } = await openTimed();
    const rows = page.getByRole('region', { name: 'Audit log' }).locator('tbody tr');
    const first = await rows.first().innerText();
    await house.journal.appendAudit([createAuditRecord(Date.now(), 'consent.withdrawn')]);
    await page.clock.runFor(16_000);
    await page.getByRole('button', { name: 'Show newer entries' }).waitFor();
    expect(await rows.first().innerText()).toBe(first);
    await page.getByRole('button', { name: 'Show newer entries' }).click();
    await rows.first().getByText('Permission withdrawn').waitFor();
    expect(await page.getByRole('button', { name: 'Show newer entries' }).count()).toBe(0);
  });
});

it.each(viewports)(
  'has no accessibility violations or overflow on the operations page: %s',
  async (_look, options) => {
    const { page } = await open(options);
    expect(await findViolations(page)).toEqual([]);
    expect(await measureOverflow(page)).toBe(0);
    await page.getByRole('button', { name: '2 connections have problems' }).click();
    // The page scrolls inside the window. The window with the header does not scroll.
    expect(Number(await page.evaluate('document.scrollingElement.scrollTop'))).toBeLessThanOrEqual(1);
    expect(
      await page.evaluate("[...document.querySelectorAll('.table-frame')].map((each) => each.scrollWidth - each.clientWidth)"),
    ).toEqual([0, 0]);
  },
  maxLookMs,
);
