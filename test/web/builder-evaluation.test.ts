import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { openResponses, type ResponseDatabase } from '#test/response-stores.ts';
import { type TestService, withKey } from '#test/start-service.ts';
import { ownBucket, quickApp } from '../applications/support.ts';
import { openEditor, store } from './builder-support.ts';
import { startBrowser, startPageService, type TestBrowser } from './support.ts';
import { findViolations, measureOverflow, viewports } from './violations.ts';

vi.setConfig({ testTimeout: 60_000 });

let browser: TestBrowser;
let service: TestService;
let database: ResponseDatabase;

const weather = (parameter: string) =>
  quickApp(
    {
      client_toolset: [
        {
          name: 'get_weather',
          description: 'Gives the weather of a city',
          parameters: [{ name: parameter, description: 'The city', parameter_type: 'string' }],
        },
      ],
    },
    { displayName: 'Guide' },
  );

beforeAll(async () => {
  browser = await startBrowser();
  database = await openResponses('SQLite');
  service = await startPageService(
    { models: { demo: { displayName: 'Demo', upstreams: [{ protocol: 'demo' }] } } },
    database.evaluating(),
  );
});

afterAll(async () => {
  await service.close();
  await database[Symbol.asyncDispose]();
});

const path = (what: string, name: string): string => `/v1/${what}/applications/${ownBucket}/${name}`;

it('turns an answer of the test chat into a case that detects a regression', async () => {
  await store(service, 'guide', weather('city'));
  const { page, issues } = await openEditor('guide', { browser, service });
  await page.getByRole('button', { name: 'Test chat' }).click();
  const chat = page.getByRole('complementary', { name: 'Test chat' });
  await chat.getByRole('textbox').fill('What is the weather in Oslo?');
  await chat.getByRole('textbox').press('Enter');
  await chat.getByRole('button', { name: 'Save as a test case' }).click();
  await chat.getByText('Saved as a test case.').waitFor();
  await page.locator('summary', { hasText: /^Evaluation$/ }).click();
  const cases = page.getByRole('list', { name: 'Test cases' }).getByRole('listitem');
  await cases.first().waitFor();
  expect(await cases.locator('.case-name').allTextContents()).toEqual(['What is the weather in Oslo? 1 check']);
  await page.getByRole('button', { name: 'Run 1 test case' }).click();
  const evaluations = page.getByRole('list', { name: 'Evaluations' }).getByRole('listitem');
  await evaluations.getByText('1 of 1 passed').waitFor();

  await store(service, 'guide', weather('place'));
  await page.getByRole('button', { name: 'Run 1 test case' }).click();
  await evaluations.getByText('0 of 1 passed').waitFor();
  await evaluations
    .first()
    .getByRole('button', { name: /^Results of version 2/ })
    .click();
  await evaluations.first().getByText('get_weather was called with {"place":"Oslo"}, not with {"city":"Oslo"}.').waitFor();
  await evaluations.first().getByLabel('Compared with').selectOption({ index: 1 });
  await page.getByText('0 better, 1 worse, 0 the same').waitFor();

  await page.reload();
  await page.locator('summary', { hasText: /^Versions$/ }).click();
  const versions = page.getByRole('list', { name: 'Versions' }).getByRole('listitem');
  await versions.getByText('1 of 1 passed').waitFor();
  expect(await versions.locator('.version-name').allTextContents()).toEqual([
    expect.stringMatching(/Current, used in all chats0 of 1 passed$/),
    expect.stringMatching(/version 11 of 1 passed$/),
  ]);
  expect(issues).toEqual({ externalRequests: [], errors: [] });
});

it('shows no counts if a comparison cannot be loaded', async () => {
  await store(service, 'compared', weather('city'));
  const body = { input: 'Hello', checks: [{ type: 'contains', text: 'Hello' }] };
  await service.sendRequest({ path: path('cases', 'compared'), headers: withKey(), body });
  const { page } = await openEditor('compared', { browser, service });
  await page.locator('summary', { hasText: /^Evaluation$/ }).click();
  const evaluations = page.getByRole('list', { name: 'Evaluations' }).getByRole('listitem');
  for (const index of [0, 1]) {
    await page.getByRole('button', { name: 'Run 1 test case' }).click();
    await evaluations.nth(index).getByText('1 of 1 passed').waitFor();
  }
  await page.route(/\/comparison\?/, (route) => route.abort());
  await evaluations
    .first()
    .getByRole('button', { name: /^Results of version 1/ })
    .click();
  await evaluations.first().getByLabel('Compared with').selectOption({ index: 1 });
  await evaluations.first().getByRole('alert').waitFor();
  expect(await page.getByText(/^\d better/).count()).toBe(0);
});

it('suggests an evaluation before the user shares an application', async () => {
  await store(service, 'offer', weather('city'));
  const body = { input: 'Hello', checks: [{ type: 'contains', text: 'Hello' }] };
  await service.sendRequest({ path: path('cases', 'offer'), headers: withKey(), body });
  const { page, issues } = await openEditor('offer', { browser, service });
  const sharing = page.getByRole('region', { name: 'Who can use it' });
  const offer = sharing.getByText('Check its answers before other people use it.');
  await offer.waitFor();
  await sharing.getByRole('button', { name: 'Evaluate now' }).click();
  await expect.poll(() => page.evaluate('document.activeElement.textContent')).toBe('Evaluation');
  await page.getByRole('list', { name: 'Evaluations' }).getByText('1 of 1 passed').waitFor();
  await sharing.getByText('1 of 1 passed').waitFor();
  await store(service, 'offer', { ...weather('city'), userRoles: ['staff'] });
  await page.reload();
  await sharing.getByText('everyone with the role staff').waitFor();
  expect(await offer.count()).toBe(0);
  expect(issues).toEqual({ externalRequests: [], errors: [] });
});

it('creates cases, imports them from a table, deletes them, and shows errors in invalid cases', async () => {
  await store(service, 'written', weather('city'));
  const { page } = await openEditor('written', { browser, service });
  await page.locator('summary', { hasText: /^Evaluation$/ }).click();
  await page.getByText('There are no test cases yet.').waitFor();
  const table = {
    name: 'c.csv',
    mimeType: 'text/csv',
    buffer: Buffer.from('name,input,contains\nOne,Hello,Hello\nTwo,Hi,Hello\n'),
  };
  await page.locator('#evaluation input[type=file]').setInputFiles(table);
  const cases = page.getByRole('list', { name: 'Test cases' }).getByRole('listitem');
  await cases.nth(1).waitFor();
  await page.getByRole('button', { name: 'Delete the case One' }).click();
  await vi.waitFor(async () => expect(await cases.count()).toBe(1));
  await page.getByRole('button', { name: 'New test case' }).click();
  await page.getByLabel('User message').fill('x');
  await page.getByRole('button', { name: 'As JSON' }).click();
  await page.getByText('Fill this in.').waitFor();
  await page.getByLabel('Text', { exact: true }).fill('x');
  await page.getByRole('button', { name: 'As JSON' }).click();
  await page.getByLabel('The case as JSON').fill('{"input": "x", "checks": [{"type": "matches", "pattern": "("}]}');
  await page.getByRole('button', { name: 'Save the case' }).click();
  await page.getByText('checks[0].pattern must be a regular expression').waitFor();
  await page.getByLabel('The case as JSON').fill('{');
  await page.getByRole('button', { name: 'Save the case' }).click();
  await page.getByText(/JSON/).last().waitFor();
  await page.getByLabel('The case as JSON').fill('{"name": "Three", "input": "x", "checks": []}');
  await page.getByRole('button', { name: 'Save the case' }).click();
  await cases.nth(1).waitFor();
  expect(await cases.locator('.case-name').allTextContents()).toEqual(['Two 1 check', 'Three 0 checks']);
});

it('creates and edits a case in the form', async () => {
  await store(service, 'form', weather('city'));
  const { page, issues } = await openEditor('form', { browser, service });
  await page.locator('summary', { hasText: /^Evaluation$/ }).click();
  const newCase = page.getByRole('button', { name: 'New test case' });
  const hasFocus = (text: string) => expect.poll(() => page.evaluate('document.activeElement.textContent')).toBe(text);
  await newCase.click();
  await expect
    .poll(() =>
      page
        .getByLabel('Name')
        .last()
        .evaluate((field) => field === field.ownerDocument.activeElement),
    )
    .toBe(true);
  const cancel = page.locator('.case-editor').getByRole('button', { name: 'Cancel' });
  expect((await cancel.boundingBox())?.y).toBeLessThan((await page.locator('.builder-bar').boundingBox())?.y ?? 0);
  await cancel.click();
  await hasFocus('New test case');
  await newCase.click();
  await page.getByLabel('Name').last().fill('Weather');
  await page.getByLabel('User message').fill('What is the weather in Oslo?');
  const checks = page.getByRole('group', { name: /^Check \d$/ });
  await checks.nth(0).getByRole('combobox').selectOption('A tool is called');
  await page.getByRole('button', { name: 'Save the case' }).click();
  await checks.nth(0).getByText('Fill this in.').waitFor();
  await checks.nth(0).getByLabel('Tool name').fill('get_weather');
  await page.getByRole('button', { name: 'Add a check' }).click();
  await checks.nth(1).getByRole('combobox', { name: 'Type of check 2' }).selectOption('A model rates the answer as good');
  await checks.nth(1).getByLabel('Rated by').selectOption('Demo');
  await checks.nth(1).getByLabel('Criteria for a good answer').fill('It names the city.');
  await page.getByRole('button', { name: 'Add a check' }).click();
  await page.getByRole('button', { name: 'Remove Check 3' }).click();
  await page.getByRole('button', { name: 'Add a check' }).click();
  await checks.nth(2).getByRole('combobox').selectOption('The answer takes at most');
  await checks.nth(2).getByLabel('Seconds').fill('soon');
  await page.getByRole('button', { name: 'Save the case' }).click();
  await checks.nth(2).getByText('Enter a number').waitFor();
  await checks.nth(2).getByLabel('Seconds').fill('20');
  await page.getByRole('button', { name: 'Save the case' }).click();
  await page.getByText('Weather 3 checks').waitFor();
  const { json } = await service.sendRequest({ method: 'GET', path: path('cases', 'form'), headers: withKey() });
  expect((json as { data: unknown[] }).data).toEqual([
    expect.objectContaining({
      name: 'Weather',
      input: 'What is the weather in Oslo?',
      checks: [
        { type: 'calls', tool: 'get_weather' },
        { type: 'judged', deployment: 'demo', rubric: 'It names the city.' },
        { type: 'time_at_most', seconds: 20 },
      ],
    }),
  ]);
  await page.getByRole('button', { name: 'Edit the case Weather' }).click();
  await checks.nth(0).getByLabel('With at least these arguments').fill('{"city": "Oslo"}');
  await page.getByRole('button', { name: 'Save the case' }).click();
  await checks.first().waitFor({ state: 'detached' });
  const changed = await service.sendRequest({ method: 'GET', path: path('cases', 'form'), headers: withKey() });
  expect(JSON.stringify(changed.json)).toContain('"arguments":{"city":"Oslo"}');
  expect(issues).toEqual({ externalRequests: [], errors: [] });
});

it.each(viewports)('shows the evaluation without accessibility violations or overflow: %s', async (name, options) => {
  const app = `look-${name.replaceAll(/\W/g, '')}`;
  await store(service, app, weather('city'));
  const input = 'What is the weather in a town with a name of many syllables, which is told in full?';
  const checks = [{ type: 'equals', text: `${'long'.repeat(60)} text` }];
  await service.sendRequest({
    path: path('cases', app),
    headers: withKey(),
    body: [
      { input, checks },
      { input: 'Hello', checks: [] },
    ],
  });
  const { page } = await openEditor(app, { browser, service, options });
  await page.locator('details#evaluation > summary').click();
  await page.getByRole('button', { name: 'Run 2 test cases' }).click();
  const item = page.getByRole('list', { name: 'Evaluations' }).locator('.version').first();
  await item.getByRole('button', { name: /^Results/ }).click();
  await item.locator('.evaluation-reason').waitFor();
  await item.locator('details summary').last().click();
  await page.locator('.case-name + button').first().click();
  expect(await findViolations(page)).toEqual([]);
  expect(await measureOverflow(page)).toBe(0);
});
