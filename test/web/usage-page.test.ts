import { readFile } from 'node:fs/promises';
import type { BrowserContextOptions } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hello } from '#test/chunks.ts';
import { getChatPath, withKey } from '#test/start-service.ts';
import { type AdminHouse, createUsageRecord, startAdminService } from '../admin/support.ts';
import { startBrowser, startPageService, type TestBrowser, type TestPage } from './support.ts';
import { findViolations, measureOverflow, viewports } from './violations.ts';

const maxLookMs = 60_000;
const today = new Date().toISOString().slice(0, 10);
const demo = (fields: object) => ({ ...fields, upstreams: [{ protocol: 'demo' }] });

let house: AdminHouse;
let browser: TestBrowser;

beforeAll(async () => {
  browser = await startBrowser();
  house = await startAdminService(
    {
      models: {
        demo: demo({ displayName: 'Demo' }),
        bounded: demo({ displayName: 'Bounded' }),
        vectors: demo({ type: 'embedding' }),
      },
      roles: {
        staff: { limits: { bounded: { requestDay: 4, month: 1_000_000 }, vectors: { day: 500 } }, costLimit: { week: 20 } },
        admin: { limits: {} },
      },
    },
    undefined,
    startPageService,
  );
  const tokens = { promptTokens: 1000, completionTokens: 500 };
  const request = {
    model: 'bounded',
    messages: [
      '[3 items truncated]',
      { role: 'system', content: 'Be brief.' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'How late is it? '.repeat(60) },
          { type: 'image_url', image_url: { url: 'data:' } },
        ],
      },
    ],
  };
  const reply = { choices: [{ index: 0, message: { role: 'assistant', content: 'It is noon.' }, finish_reason: 'stop' }] };
  const withContent = createUsageRecord(today, {
    ...tokens,
    deployment: 'bounded',
    subject: '=cmd()',
    outcome: 'failed',
    cost: 0,
  });
  await house.contents.append([
    { id: withContent.id, atMs: withContent.atMs, text: JSON.stringify({ request, reply, isTruncated: true }) },
  ]);
  await house.journal.appendUsage([
    createUsageRecord(today, { ...tokens, deployment: 'demo', subject: 'ada@example.com', cost: 2_500_000_000 }),
    withContent,
    createUsageRecord(today, { ...tokens, deployment: 'demo', subject: 'key:user', cost: 1_000_000_000 }),
    createUsageRecord(today, {
      deployment: 'bounded',
      subject: 'key:user',
      outcome: 'refused',
      promptTokens: 0,
      completionTokens: 0,
      cost: 0,
    }),
  ]);
});

afterAll(async () => {
  await house[Symbol.asyncDispose]();
});

/** An administrator sees the usage of all users unless the view is '#/usage'. */
async function open(key: string, options?: BrowserContextOptions, view = '#/usage?scope=all'): Promise<TestPage> {
  const opened = await browser.open(`${house.service.url}/#key=${key}`, options);
  await opened.page.locator('#message').waitFor();
  await opened.page.evaluate(`location.hash = ${JSON.stringify(view)}`);
  await opened.page.locator('.sheet-section:not([aria-busy=true])').nth(1).waitFor();
  return opened;
}

describe('a user without an administrator role', () => {
  it('sees their own limits with the remaining quota and the reset time', async () => {
    await house.service.sendRequest({ path: getChatPath('bounded'), headers: withKey('user-key'), body: { messages: hello } });
    const { page, issues } = await open('user-key');
    expect(await page.getByRole('heading', { level: 2 }).first().textContent()).toBe('Your limits');
    const meters = page.getByRole('meter');
    expect(await meters.evaluateAll((all) => all.map((meter) => (meter as unknown as { ariaLabel: string }).ariaLabel))).toEqual([
      'All models and applications, USD a week',
      'Bounded, tokens a month',
      'Bounded, requests a day',
      'vectors, tokens a day',
    ]);
    expect(await page.getByRole('meter', { name: 'Bounded, requests a day' }).getAttribute('aria-valuetext')).toBe(
      '1 of 4 used, 3 left',
    );
    const bar = page.locator('.limit', { hasText: 'requests a day' });
    expect(await bar.locator('.limit-remaining').textContent()).toBe('3 left · 1 of 4 used');
    expect(await bar.locator('time').textContent()).toMatch(/^resets in \d+ (day|hour|minute|second)s?$/);
    expect(issues).toEqual({ externalRequests: [], errors: [] });
  });

  it('sees only their own usage and no operations page', async () => {
    const { page } = await open('user-key');
    expect(await page.locator('.usage-summary').textContent()).toBe('2 requests, 1,500 tokens, $1.00');
    expect(await page.getByText('By user').count()).toBe(0);
    expect(await page.getByText('Everyone’s').count()).toBe(0);
    expect(await page.getByRole('link', { name: 'Operations' }).count()).toBe(0);
    await page.evaluate("location.hash = '#/operations'");
    await page.locator('#message').waitFor();
    expect(await page.getByText('Audit log').count()).toBe(0);
  });

  it('sees how many requests applications made to answer those of the user', async () => {
    const fields = { atMs: Date.now() - 60 * 86_400_000, subject: 'key:user', cost: 0 };
    await house.journal.appendUsage([
      createUsageRecord(today, { ...fields, deployment: 'helper' }),
      createUsageRecord(today, { ...fields, deployment: 'demo', path: ['helper', 'demo'] }),
      createUsageRecord(today, { ...fields, deployment: 'demo', path: ['helper', 'demo'] }),
    ]);
    const { page } = await open('user-key', {}, '#/usage');
    await page.getByRole('radio', { name: '90 days' }).check();
    await page.getByText('To answer them, applications sent 2 further requests to models and applications.').waitFor();
    expect(await page.locator('.usage-summary').textContent()).toMatch(/^3 requests,/);
    await page.getByRole('radio', { name: 'Requests' }).check({ force: true });
    await page.getByRole('img', { name: 'Requests by day' }).waitFor();
    await page.locator('.day-chart summary').click();
    const rows = page.getByRole('region', { name: 'Requests by day' }).locator('tbody tr');
    const counts = (await rows.locator('td').allInnerTexts()).map(Number);
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(3);
    const table = page.getByRole('region', { name: 'By model or application' });
    expect(await table.locator('tr', { hasText: 'Demo' }).locator('td').nth(2).innerText()).toBe('3');
  });

  it('sees readable names for test chats of unsaved applications and for unlisted applications', async () => {
    const fields = { atMs: Date.now() - 80 * 86_400_000, subject: 'key:user', cost: 0 };
    const folderApp = 'applications/other-bucket/folder/app';
    await house.journal.appendUsage([
      createUsageRecord(today, { ...fields, deployment: 'applications/own-bucket/unsaved' }),
      createUsageRecord(today, { ...fields, deployment: folderApp }),
    ]);
    const { page } = await open('user-key', {}, '#/usage');
    await page.getByRole('radio', { name: '90 days' }).check();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download as CSV' }).click(),
    ]);
    const csv = await readFile(await download.path(), 'utf8');
    expect(csv).toContain(',Test chats of unsaved applications,applications/own-bucket/unsaved,');
    expect(csv).toContain(`,app,${folderApp},`);
    await page.getByRole('button', { name: 'Show the requests of Test chats of unsaved applications' }).click();
    await page.locator('.calls .deployment-name').getByText('Test chats of unsaved applications').first().waitFor();
    await page.getByRole('button', { name: 'Back to overview' }).click();
    await page.getByRole('button', { name: 'Show the requests of app', exact: true }).click();
    await page.locator('.calls .deployment-name').getByText(`folder/app${folderApp}`).first().waitFor();
  });

  it('sees the current series in the legend after two series with the same name', async () => {
    const fields = { atMs: Date.now() - 70 * 86_400_000, subject: 'key:user', cost: 2_000_000_000 };
    const deployments = ['applications/first-bucket/twin', 'applications/second-bucket/twin'];
    await house.journal.appendUsage(deployments.map((deployment) => createUsageRecord(today, { ...fields, deployment })));
    const { page } = await open('user-key', {}, '#/usage');
    await page.getByRole('radio', { name: '90 days' }).check();
    const legend = page.locator('.day-chart .legend li');
    await legend.getByText('twin').nth(1).waitFor();
    await page.getByRole('radio', { name: 'Tokens' }).check({ force: true });
    await page.getByRole('radio', { name: 'Input and output' }).check({ force: true });
    await legend.getByText('Output tokens').waitFor();
    expect(await legend.allTextContents()).toEqual(['Input tokens', 'Output tokens']);
  });

  it('sees that no limits apply', async () => {
    const { page } = await open('admin-key');
    await page.getByText('No limits').waitFor();
  });
});

describe('an administrator', () => {
  it('sees their own usage by default, and the usage of all users at a separate address', async () => {
    const { page } = await open('admin-key', {}, '#/usage');
    await page.getByText('No usage on these days.').waitFor();
    expect(await page.getByRole('radio', { name: 'Yours' }).isChecked()).toBe(true);
    await page.evaluate("location.hash = '#/usage?scope=all'");
    await page.getByText('4 requests').waitFor();
    expect(await page.getByText('applications sent').count()).toBe(0);
  });

  it('sees the usage of all users by day, deployment, and user, also as numbers', async () => {
    const { page, issues } = await open('admin-key');
    expect(await page.locator('.usage-summary').textContent()).toBe('4 requests, 4,500 tokens, $3.50');
    await page.getByRole('img', { name: 'Cost by day' }).waitFor();
    const cells = async (label: string) => page.getByRole('region', { name: label }).locator('tbody tr').allInnerTexts();
    const normalize = (rows: readonly string[]) => rows.map((row) => row.split(/\s+/).join(' '));
    expect(normalize(await cells('By model or application'))).toEqual(['Demo $3.50 3,000 2 0 0', 'Bounded $0.00 1,500 2 1 1']);
    expect(normalize(await cells('By user'))).toEqual([
      'ada@example.com $2.50 1,500 1 0 0',
      'key:user $1.00 1,500 2 0 1',
      '=cmd() $0.00 1,500 1 1 0',
    ]);
    await page.locator('.day-chart summary').click();
    expect(await page.getByRole('region', { name: 'Cost by day' }).locator('tbody tr').last().innerText()).toMatch(
      /\$3\.50\s\$0\.00$/,
    );
    expect(await page.locator('.day-chart .legend li').allTextContents()).toEqual(['Demo', 'Bounded']);
    expect(issues).toEqual({ externalRequests: [], errors: [] });
  });

  it('selects the users, the days, and the measure with the keyboard', async () => {
    const { page } = await open('admin-key');
    await page.getByRole('radio', { name: 'Cost' }).focus();
    await page.keyboard.press('ArrowRight');
    await page.getByRole('img', { name: 'Tokens by day' }).waitFor();
    const legend = page.locator('.day-chart .legend li');
    await page.getByRole('radio', { name: 'Input and output' }).check({ force: true });
    await legend.getByText('Output tokens').waitFor();
    expect(await legend.allTextContents()).toEqual(['Input tokens', 'Output tokens']);
    await page.getByRole('radio', { name: 'Users' }).check({ force: true });
    await legend.getByText('key:user').waitFor();
    expect((await legend.allTextContents()).sort()).toEqual(['=cmd()', 'ada@example.com', 'key:user']);
    await page.getByRole('radio', { name: 'Everyone’s' }).focus();
    await page.keyboard.press('ArrowLeft');
    await page.getByText('No usage on these days.').waitFor();
    await page.keyboard.press('ArrowRight');
    await page.getByText('4 requests').waitFor();
    await page.getByRole('radio', { name: 'This month' }).focus();
    await page.keyboard.press('ArrowRight');
    await page.getByRole('textbox', { name: 'From' }).fill('2020-01-02');
    await page.getByRole('alert').getByText('The first day must not be after the last').waitFor();
    await page.getByRole('textbox', { name: 'To' }).fill('2020-01-03');
    await page.getByText('No usage on these days.').waitFor();
    expect(await page.getByRole('alert').getByText('The first day must not be after the last').count()).toBe(0);
  });

  it('downloads the usage as CSV without formulas', async () => {
    const { page } = await open('admin-key');
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download as CSV' }).click(),
    ]);
    expect(download.suggestedFilename()).toMatch(/^usage-\d{4}-\d\d-\d\d-\d{4}-\d\d-\d\d\.csv$/);
    expect((await readFile(await download.path(), 'utf8')).split('\r\n')).toEqual([
      'day,deployment_name,deployment,user,calls,failed_calls,refused_calls,prompt_tokens,completion_tokens,cost_usd',
      `${today},Bounded,bounded,'=cmd(),1,1,0,1000,500,0`,
      `${today},Bounded,bounded,key:user,1,0,1,0,0,0`,
      `${today},Demo,demo,ada@example.com,1,0,0,1000,500,2.5`,
      `${today},Demo,demo,key:user,1,0,0,1000,500,1`,
      '',
    ]);
  });
});

describe('a single call', () => {
  const openCall = async (page: TestPage['page'], name: string, row: string) => {
    await page.getByRole('button', { name }).click();
    await page.getByRole('region', { name: 'Requests', exact: true }).locator('tr', { hasText: row }).getByRole('button').click();
    await page.getByRole('heading', { name: 'Request', exact: true }).waitFor();
  };

  it('shows its facts, and its content after a notice about the audit log', async () => {
    const { page, issues } = await open('admin-key');
    await openCall(page, 'Show the requests of Bounded', '=cmd()');
    const facts = await page.locator('.call-facts').innerText();
    for (const fact of ['Bounded', '=cmd()', 'lab', 'failed 200', '1,000', '$0.00']) expect(facts).toContain(fact);
    await page.getByText('The audit log records that you read the content.').waitFor();
    expect(await page.getByText('It is noon.').count()).toBe(0);
    await page.getByRole('button', { name: 'Show content' }).click();
    await page.getByText('It is noon.').first().waitFor();
    expect(await page.locator('.call-messages').first().innerText()).toMatch(
      /items truncated.*system.*Be brief.*How late is it/s,
    );
    await page.getByText('The content was too long').waitFor();
    await page.getByRole('button', { name: 'Back to the requests' }).click();
    await page.getByRole('heading', { name: /^Requests of Bounded · / }).waitFor();
    expect(issues).toEqual({ externalRequests: [], errors: [] });
  });

  it('shows that no content is stored, and offers none to users without the role of administrators', async () => {
    const { page } = await open('admin-key');
    await openCall(page, 'Show the requests of ada@example.com', 'answered');
    await page.getByRole('button', { name: 'Show content' }).click();
    await page.getByText('No content is stored for this request.').waitFor();
    const user = await open('user-key');
    await openCall(user.page, 'Show the requests of Demo', 'answered');
    expect(await user.page.getByRole('button', { name: 'Show content' }).count()).toBe(0);
  });

  it('is found by its request ID and by its status', async () => {
    const { page } = await open('admin-key');
    await page.getByRole('button', { name: 'Show the requests of Bounded' }).click();
    const rows = page.getByRole('region', { name: 'Requests', exact: true }).locator('tbody tr');
    const search = page.getByRole('searchbox', { name: 'Request ID, or HTTP status such as 429' });
    await search.fill('404');
    await search.press('Enter');
    await page.getByText('No matching requests').waitFor();
    await search.fill('request');
    await page.getByRole('button', { name: 'Search', exact: true }).click();
    await expect.poll(() => rows.count()).toBeGreaterThan(0);
  });
});

describe('the calls of a row or a bar', () => {
  const readRows = async (page: TestPage['page']) => {
    const rows = await page.getByRole('region', { name: 'Requests', exact: true }).locator('tbody tr').allInnerTexts();
    return rows.map((row) => row.split(/\s+/).join(' '));
  };

  it('open from a row with the keyboard, can be filtered, and close with the focus on that row', async () => {
    const { page, issues } = await open('admin-key');
    const link = page.getByRole('button', { name: 'Show the requests of Bounded' });
    await link.focus();
    await page.keyboard.press('Enter');
    const heading = page.getByRole('heading', { name: /^Requests of Bounded · / });
    await heading.waitFor();
    await page.getByText('key:user').waitFor();
    expect(await heading.evaluate('document.activeElement?.textContent')).toMatch(/^Requests of Bounded · /);
    const rows = (await readRows(page)).sort();
    expect(rows).toHaveLength(2);
    expect(rows.join('\n')).toMatch(/=cmd\(\) failed 200 1,000 500 \$0\.00 0 secs? request/);
    expect(rows.join('\n')).toMatch(/key:user rejected 200 0 0 \$0\.00 0 secs? request/);
    await page.getByRole('radio', { name: 'rejected' }).check({ force: true });
    await expect.poll(async () => (await readRows(page)).length).toBe(1);
    await page.getByRole('radio', { name: 'canceled' }).check({ force: true });
    await page.getByText('No matching requests').waitFor();
    await page.getByRole('button', { name: 'Back to overview' }).click();
    await link.waitFor();
    await expect.poll(() => link.evaluate('document.activeElement?.title')).toBe('Show the requests of Bounded');
    expect(issues).toEqual({ externalRequests: [], errors: [] });
  });

  it('open for failed calls, for a user, for a bar, and for a day', async () => {
    const { page } = await open('admin-key');
    await page.getByRole('button', { name: 'Show requests of Bounded: Failed, 1' }).click();
    await expect.poll(() => readRows(page)).toMatchObject([expect.stringContaining('=cmd() failed')]);
    await page.getByRole('button', { name: 'Back to overview' }).click();
    await page.getByRole('button', { name: 'Show the requests of ada@example.com' }).click();
    await expect.poll(() => readRows(page)).toMatchObject([expect.stringMatching(/Demo demo answered 1,000 500 \$2\.50/)]);
    await page.locator('.day-chart rect[data-series="0"]').last().click();
    await page.getByRole('heading', { name: /^Requests of Demo · / }).waitFor();
    await expect.poll(async () => (await readRows(page)).length).toBe(2);
    await page.locator('.day-chart summary').click();
    await page.getByRole('region', { name: 'Cost by day' }).getByRole('button').last().click();
    await expect.poll(async () => (await readRows(page)).length).toBe(4);
  });

  it('include only the calls of the user without an administrator role, and load older calls on demand', async () => {
    const records = Array.from({ length: 60 }, (_, nth) =>
      createUsageRecord('2024-03-01', {
        subject: 'key:other',
        requestId: `night-${nth}`,
        path: nth > 0 ? ['agent', 'model'] : ['model'],
      }),
    );
    await house.journal.appendUsage(records);
    const { page } = await open('user-key');
    await page.getByRole('button', { name: 'Show the requests of Demo' }).click();
    await expect.poll(async () => (await readRows(page)).length).toBe(1);
    expect(await page.getByRole('columnheader', { name: 'User' }).count()).toBe(0);
    const admin = await open('admin-key');
    await admin.page.getByRole('radio', { name: 'Other days' }).check({ force: true });
    await admin.page.getByRole('textbox', { name: 'From' }).fill('2024-03-01');
    await admin.page.getByRole('textbox', { name: 'To' }).fill('2024-03-01');
    await admin.page.getByRole('button', { name: 'Show the requests of key:other' }).click();
    await expect.poll(async () => (await readRows(admin.page)).length).toBe(50);
    await admin.page.getByRole('button', { name: 'Show older requests' }).click();
    await expect.poll(async () => (await readRows(admin.page)).length).toBe(60);
    expect((await readRows(admin.page)).filter((row) => /for agent .*night-\d+/.test(row))).toHaveLength(59);
    expect(await admin.page.getByRole('button', { name: 'Show older requests' }).count()).toBe(0);
  });
});

it.each(viewports)(
  'has no accessibility violations or overflow on the usage page: %s',
  async (_look, options) => {
    const { page } = await open('admin-key', options);
    await page.locator('.day-chart summary').click();
    expect(await findViolations(page)).toEqual([]);
    expect(await measureOverflow(page)).toBe(0);
    await page.getByRole('button', { name: 'Show the requests of Bounded' }).click();
    await page.getByText('key:user').waitFor();
    expect(await findViolations(page)).toEqual([]);
    expect(await measureOverflow(page)).toBe(0);
    await page.locator('tr', { hasText: '=cmd()' }).locator('.calls-link').click();
    await page.getByRole('button', { name: 'Show content' }).click();
    await page.getByText('It is noon.').first().waitFor();
    expect(await findViolations(page)).toEqual([]);
    expect(await measureOverflow(page)).toBe(0);
    const limited = await open('user-key', options);
    expect(await findViolations(limited.page)).toEqual([]);
    expect(await measureOverflow(limited.page)).toBe(0);
  },
  maxLookMs,
);

it('translates the usage page to German', async () => {
  const { page } = await open('admin-key', { locale: 'de-DE' });
  await page.getByRole('heading', { name: 'Nach Benutzer' }).waitFor();
  expect(await page.locator('.usage-summary').textContent()).toBe('4 Anfragen, 4.500 Token, 3,50\u00a0$');
});

it('shows the days of the chart in the form of the region of the browser', async () => {
  const { page } = await open('admin-key', { locale: 'en-GB' });
  await page.locator('.day-chart summary').click();
  const day = await page.getByRole('region', { name: 'Cost by day' }).locator('tbody th').last().innerText();
  expect(day).toMatch(/^\d+ [A-Z][a-z]+$/);
});
