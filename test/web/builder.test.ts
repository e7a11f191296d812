import { readFile } from 'node:fs/promises';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { TestProcess } from '#test/start-process.ts';
import { callerKey, startService } from '#test/start-service.ts';
import { getApplicationPath, getProjectBucket, quickApp, save as saveThrough } from '../applications/support.ts';
import { startBrowser, startPageProcess, type TestBrowser, type TestPage } from './support.ts';
import { findViolations, measureOverflow, viewports } from './violations.ts';

vi.setConfig({ testTimeout: 60_000 });

let browser: TestBrowser;
let service: TestProcess;

const models = {
  demo: { displayName: 'Demo', description: 'Answers by rules.', upstreams: [{ protocol: 'demo' }] },
  other: { displayName: 'Other model', upstreams: [{ protocol: 'demo' }] },
};
const keys = { [callerKey]: { project: 'test' }, bob: { project: 'bob' } };
const token = 'canary-of-the-builder';
const headers = { 'api-key': callerKey, 'content-type': 'application/json' };

beforeAll(async () => {
  browser = await startBrowser();
  service = await startPageProcess({ models, keys });
});

afterAll(async () => {
  await service[Symbol.asyncDispose]();
});

async function openBuilder(options?: BrowserContextOptions, at = service.url): Promise<TestPage> {
  const opened = await browser.open(`${at}/#key=${callerKey}`, options);
  await opened.page.locator('#message').waitFor();
  await opened.page.evaluate("location.hash = '#/build'");
  await opened.page.locator('.sheet[aria-busy=false] h1').waitFor();
  return opened;
}

async function startApplication(page: Page, name: string): Promise<void> {
  await page.getByRole('button', { name: 'New application' }).click();
  await page.getByLabel('Name', { exact: true }).waitFor();
  expect(await page.getByText('Not saved.').count()).toBe(0);
  await page.getByLabel('Name', { exact: true }).fill(name);
  await page.getByText('Not saved. Closing the tab loses the changes.').waitFor();
  await page.getByLabel(/^Instructions/).fill('You help visitors of Oslo.');
}

async function save(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByText('Everything is saved').waitFor();
  // Saving must not move the focus.
  expect(await page.evaluate('document.activeElement.textContent')).toMatch(/^Sav(e|ing…)$/);
}

/** Unfolds the section of tools with this name and returns it. */
async function unfold(page: Page, name: string) {
  const section = page.locator('.builder-disclosure', { has: page.locator('summary', { hasText: new RegExp(`^${name}`) }) });
  await section.locator('> summary').click();
  return section;
}

async function readApplication(
  name: string,
): Promise<Record<string, unknown> & { applicationProperties: Record<string, unknown> }> {
  const { json } = await service.sendRequest({ method: 'GET', path: '/v1/bucket', headers });
  const answer = await service.sendRequest({
    method: 'GET',
    path: `/v1/applications/${(json as { bucket: string }).bucket}/${name}`,
    headers,
  });
  return answer.json as Awaited<ReturnType<typeof readApplication>>;
}

it('offers three templates that can be saved unchanged', async () => {
  const { page, issues } = await openBuilder();
  const templates = page.locator('.template strong');
  await templates.first().waitFor();
  const names = await templates.allInnerTexts();
  expect(names).toEqual(['Answers from documents', 'Weather', 'Writing helper']);
  for (const name of names) {
    await page.getByRole('button', { name: new RegExp(`^${name}`) }).click();
    expect(await page.getByLabel('Name', { exact: true }).first().inputValue()).toBe(name);
    const picture = await page.getByRole('button', { name: 'Choose a picture…' }).boundingBox();
    expect(picture?.x).toBe((await page.getByLabel('Name', { exact: true }).first().boundingBox())?.x);
    if (name === 'Weather') await page.getByRole('button', { name: 'Remove What is the weather in Oslo?' }).waitFor();
    await save(page);
    await page.getByRole('link', { name: 'All applications' }).click();
    await page.getByRole('heading', { name: 'Your applications' }).waitFor();
  }
  expect((await readApplication('weather')).applicationProperties).toMatchObject({
    model: 'demo',
    starters: ['What is the weather in Oslo?', 'Is it warmer in Rome or in Athens?'],
  });
  expect(issues).toEqual({ externalRequests: [], errors: [] });
});

it('stays on the list if the user leaves while the saved application is still being listed', async () => {
  const { page } = await openBuilder();
  await startApplication(page, 'Left early');
  const { promise: isReleased, resolve: release } = Promise.withResolvers<void>();
  await page.route(/openai\/deployments$/, async (route) => {
    await isReleased;
    await route.continue();
  });
  const listed = page.waitForResponse(/openai\/deployments$/);
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByText('Everything is saved').waitFor();
  await page.getByRole('link', { name: 'All applications' }).click();
  await page.getByRole('link', { name: 'Left early', exact: true }).waitFor();
  release();
  await listed;
  await page.getByRole('status').filter({ hasText: 'Saved' }).waitFor({ state: 'attached' });
  expect(await page.evaluate('location.hash')).toBe('#/build');
});

it('creates, opens, changes, and deletes an application with only the required fields', async () => {
  const { page, sendMessage, readAnswer, issues } = await openBuilder();
  await startApplication(page, 'Oslo guide');
  await page.getByRole('button', { name: 'Add a suggestion' }).click();
  await page.keyboard.type('What is there to see?');
  await page.getByRole('button', { name: 'Open in chat' }).click();
  await page.locator('.picker', { hasText: 'Oslo guide' }).waitFor();
  await page.getByRole('button', { name: 'What is there to see?' }).waitFor();
  expect((await readApplication('oslo-guide')).applicationProperties).toEqual({
    ...{ instructions: 'You help visitors of Oslo.', model: 'demo', temperature: 0.5 },
    starters: ['What is there to see?'],
  });
  await sendMessage('Hello');
  expect(await readAnswer()).not.toBe('');

  await page.getByRole('link', { name: 'Your applications' }).click();
  await page.getByRole('link', { name: 'Oslo guide', exact: true }).click();
  await page.getByLabel(/^Model/).selectOption({ label: 'Other model' });
  await page.keyboard.press('Control+s');
  await page.getByText('Everything is saved').waitFor();
  expect((await readApplication('oslo-guide')).applicationProperties.model).toBe('other');

  await page.getByRole('link', { name: 'All applications' }).click();
  await page.locator('summary[aria-label="More for Oslo guide"]').click();
  await page.getByRole('button', { name: 'Delete', exact: true }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('link', { name: 'Oslo guide', exact: true }).waitFor({ state: 'detached' });
  expect(issues).toEqual({ externalRequests: [], errors: [] });
});

it('can delete an application that was changed elsewhere on the second attempt', async () => {
  const saveElsewhere = async (description: string) =>
    await saveThrough(service, getApplicationPath('moving'), quickApp({}, { displayName: 'Moving', description }));
  await saveElsewhere('Before.');
  const { page } = await openBuilder();
  const link = page.getByRole('link', { name: 'Moving', exact: true });
  await link.waitFor();
  await saveElsewhere('After.');
  const remove = async (): Promise<void> => {
    await page.locator('summary[aria-label="More for Moving"]').click();
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  };
  await remove();
  await page.locator('.sheet').getByRole('alert').waitFor();
  await page.getByText('After.').waitFor();
  await remove();
  await link.waitFor({ state: 'detached' });
  expect(await page.locator('.sheet').getByRole('alert').count()).toBe(0);
});

it('shows a save warning next to its field', async () => {
  const { page } = await openBuilder();
  await saveThrough(
    service,
    getApplicationPath('warned'),
    quickApp({ applications_as_tools: ['lost'] }, { displayName: 'Warned' }),
  );
  await page.reload();
  await page.getByRole('link', { name: 'Warned', exact: true }).click();
  await page.getByLabel(/^Instructions/).fill('You help visitors of Bergen.');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByText('Everything is saved').waitFor();
  await page.getByText('names a deployment that does not exist or that you cannot use').waitFor();
});

it('shows validation errors at their fields in the form and next to the JSON', async () => {
  const { page } = await openBuilder();
  await startApplication(page, 'Faulty');
  const servers = await unfold(page, 'MCP servers');
  await servers.getByRole('button', { name: 'Add an MCP server' }).click();
  await servers.getByLabel(/^Name/).fill('Board');
  await servers.getByLabel(/^Address/).fill('nowhere');
  await servers.locator('> summary').click();
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  const address = servers.getByLabel(/^Address/);
  await servers.getByText('must be an address that begins with http:// or https://').waitFor();
  expect(await address.getAttribute('aria-invalid')).toBe('true');
  expect(await page.evaluate('document.activeElement.value')).toBe('nowhere');
  await page.locator('.builder-alert').getByText('MCP servers › Board › Address').waitFor();

  await page.getByRole('radio', { name: 'JSON' }).check();
  const text = page.getByLabel('The complete application');
  await page.locator('.builder-alert').getByText('mcp_toolset[0].mcp_server_info.url').waitFor();
  await text.fill('{ "displayName": ');
  await page.getByText('This is not a JSON object.').waitFor();
  expect(await page.getByRole('button', { name: 'Save', exact: true }).isDisabled()).toBe(true);
  await text.fill(JSON.stringify({ applicationTypeSchemaId: 'x/custom_application_schemas/quickapps', displayName: 'Mended' }));
  await page.getByRole('radio', { name: 'Form' }).check();
  expect(await page.getByLabel('Name', { exact: true }).first().inputValue()).toBe('Mended');
});

it('never shows a stored secret, keeps it if the field is not changed, and omits it from exports and copies', async () => {
  const { page } = await openBuilder();
  await startApplication(page, 'Secretive');
  const servers = await unfold(page, 'MCP servers');
  await servers.getByRole('button', { name: 'Add an MCP server' }).click();
  await servers.getByLabel(/^Name/).fill('Board');
  await servers.getByLabel(/^Address/).fill('https://mcp.example/');
  await servers.getByLabel('Authorization: Kind').selectOption({ label: 'A fixed bearer token' });
  await servers.getByLabel(/^Token/).fill(token);
  await save(page);
  const field = servers.getByLabel(/^Token/);
  expect([await field.inputValue(), await field.getAttribute('type')]).toEqual(['', 'password']);
  expect(await field.getAttribute('placeholder')).toContain('Saved and hidden');
  expect(await page.content()).not.toContain(token);

  await field.fill('another');
  await field.fill('');
  await page.getByLabel('Description').first().fill('With a secret.');
  await save(page);
  await page.getByRole('radio', { name: 'JSON' }).check();
  expect(await page.getByLabel('The complete application').inputValue()).toMatch(/"token": "\*\*\*"/);

  await page.getByRole('link', { name: 'All applications' }).click();
  const menu = page.locator('summary[aria-label="More for Secretive"]');
  await menu.click();
  const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Export' }).click()]);
  const file = await readFile(await download.path(), 'utf8');
  expect(file).not.toContain(token);
  await menu.click();
  await page.getByRole('button', { name: 'Duplicate' }).click();
  await page.getByText('Secrets are never copied').waitFor();
  expect(await page.getByLabel('Name', { exact: true }).first().inputValue()).toBe('Secretive (copy)');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.locator('.builder-alert').getByText('Authorization › Token').waitFor();

  await page.getByRole('link', { name: 'All applications' }).click();
  // The editor has a file input too.
  await page.getByRole('button', { name: 'New application' }).waitFor();
  await page
    .locator('input[type=file]')
    .setInputFiles({ name: 'app.json', mimeType: 'application/json', buffer: Buffer.from(file) });
  await page.getByText('Secrets are never copied').waitFor();
  expect(await page.getByLabel('Description').first().inputValue()).toBe('With a secret.');
});

it('saves a new application only with a name and lists the unsaved changes that the user leaves', async () => {
  const { page } = await openBuilder();
  await page.getByRole('button', { name: 'New application' }).click();
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByText('Enter a name').waitFor();
  await page.getByRole('button', { name: 'Open in chat' }).click();
  await page.getByText('Enter a name').waitFor();
  expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('New application');
  await page.getByLabel('Name', { exact: true }).fill('Named at last');
  await save(page);
  await page.getByLabel('Name', { exact: true }).fill('Renamed');
  const backLink = page.getByRole('link', { name: 'All applications' });
  await backLink.click();
  await page.getByText('You have unsaved changes in this tab').waitFor();
  await page.getByRole('link', { name: 'Named at last', exact: true }).click();
  await page.getByRole('button', { name: 'Discard changes' }).waitFor();
  expect(await page.getByLabel('Name', { exact: true }).first().inputValue()).toBe('Renamed');
});

it('shows checkboxes next to their labels and indents groups without an earlier chat with a form', async () => {
  const { page } = await openBuilder();
  await startApplication(page, 'Aligned');
  const servers = await unfold(page, 'MCP servers');
  await servers.getByRole('button', { name: 'Add an MCP server' }).click();
  const [checkbox, label] = await Promise.all([
    servers.getByRole('checkbox', { name: 'Resources' }).boundingBox(),
    servers.getByText('Resources', { exact: true }).boundingBox(),
  ]);
  if (checkbox === null || label === null) throw new Error('The checkbox is not visible');
  expect(checkbox.x + checkbox.width).toBeLessThan(label.x);
  const centerY = checkbox.y + checkbox.height / 2;
  expect(centerY).toBeGreaterThan(label.y);
  expect(centerY).toBeLessThan(label.y + label.height);
  const readIndent = 'getComputedStyle(document.querySelector(".field-group")).paddingLeft';
  expect(Number.parseFloat(await page.evaluate(readIndent))).toBeGreaterThan(0);
});

it('keeps text that is typed while a new application gets its ID', async () => {
  const { page } = await openBuilder();
  await startApplication(page, 'Quick hands');
  await page.evaluate(`addEventListener('hashchange', (event) => {
    if (!event.isTrusted) return;
    event.stopImmediatePropagation();
    setTimeout(() => dispatchEvent(new HashChangeEvent('hashchange')), 300);
  }, { capture: true })`);
  const typed = Promise.withResolvers<void>();
  await page.route('**/openai/deployments', async (route) => {
    await typed.promise;
    await route.continue();
  });
  await save(page);
  await page.getByLabel('Description').first().fill('Typed at once');
  typed.resolve();
  await page.waitForURL(/quick-hands$/);
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByText('Everything is saved').waitFor();
  expect((await readApplication('quick-hands')).description).toBe('Typed at once');
});

it('asks before it overwrites changes from elsewhere', async () => {
  const { page } = await openBuilder();
  await startApplication(page, 'Shared');
  await save(page);
  const entry = await readApplication('shared');
  const path = `/v1/${entry.id}`;
  await service.sendRequest({ method: 'PUT', path, headers, body: { ...entry, description: 'From elsewhere' } });
  await page.getByLabel('Description').first().fill('From here');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByText('The application was changed elsewhere').waitFor();
  expect((await readApplication('shared')).description).toBe('From elsewhere');
  await page.getByRole('button', { name: 'Overwrite it with mine' }).click();
  await page.getByText('Everything is saved').waitFor();
  expect((await readApplication('shared')).description).toBe('From here');
});

it('removes an optional value of a slider', async () => {
  const { page } = await openBuilder();
  await startApplication(page, 'Searcher');
  const settings = page.locator('.builder-disclosure', { hasText: 'Minimum score' });
  await settings.locator('> summary').click();
  const slider = settings.getByRole('slider', { name: 'Minimum score' });
  expect(await slider.getAttribute('aria-valuetext')).toBe('Not set');
  await slider.fill('0.5');
  await save(page);
  expect(await readApplication('searcher')).toMatchObject({ applicationProperties: { retrieval: { minScore: 0.5 } } });
  await settings.getByRole('button', { name: 'Use default' }).click();
  expect(await slider.evaluate('document.activeElement.type')).toBe('range');
  await settings.locator('output').getByText('Not set').waitFor();
  await save(page);
  expect((await readApplication('searcher')).applicationProperties.retrieval).toEqual({});
  expect(await page.getByRole('button', { name: 'Use default' }).count()).toBe(0);
});

it('stores the kind that a condition shows', async () => {
  const { page } = await openBuilder();
  await startApplication(page, 'Kinds');
  const deploymentTools = await unfold(page, 'Other models and applications');
  await deploymentTools.getByRole('button', { name: 'Add a group of conditions' }).click();
  await deploymentTools.getByLabel('Property').selectOption({ label: 'ID' });
  await deploymentTools.getByLabel('Value').fill('demo');
  await deploymentTools.getByLabel('Property').selectOption({ label: 'Kind' });
  await deploymentTools.getByText('2 matches now').waitFor();
  await deploymentTools.getByRole('button', { name: 'Add a condition' }).click();
  await deploymentTools.getByLabel('Property').last().selectOption({ label: 'Kind' });
  await deploymentTools.getByLabel('Comparison').last().selectOption({ label: 'is exactly' });
  await deploymentTools.getByText('2 matches now').waitFor();
  await save(page);
  const condition = { condition_type: 'eq', property_name: 'application', const: 'model' };
  expect((await readApplication('kinds')).applicationProperties.applications_as_tools).toEqual([
    { conditions: [condition, condition] },
  ]);
});

it('adds tools by name, by conditions, and from an OpenAPI document, and documents from files', async () => {
  const { page } = await openBuilder();
  await startApplication(page, 'Toolbox');
  const deploymentTools = await unfold(page, 'Other models and applications');
  await deploymentTools.getByRole('searchbox').fill('other');
  await page.keyboard.press('Enter');
  await deploymentTools.getByRole('button', { name: 'Remove Other model' }).waitFor();
  await deploymentTools.getByRole('button', { name: 'Add a group of conditions' }).click();
  await deploymentTools.getByLabel('Property').selectOption({ label: 'ID' });
  await deploymentTools.getByLabel('Comparison').selectOption({ label: 'matches the pattern' });
  await deploymentTools.getByLabel('Value').fill('^de(');
  await deploymentTools.locator('.error-text').getByText('RE2').waitFor();
  await deploymentTools.getByLabel('Value').fill('^de');
  await deploymentTools.getByText('1 match now').waitFor();
  expect(await deploymentTools.locator('.builder-matches li').allTextContents()).toEqual(['Demo']);

  const closedSections = page.locator('.builder-disclosure:not([open]) > summary');
  expect(await closedSections.filter({ hasText: 'Web APIs' }).innerText()).toMatch(
    /^Web APIs\s+Get and send data with a web service \(REST\)$/,
  );
  expect(await page.locator('.builder-disclosure', { hasText: 'More web APIs' }).count()).toBe(0);
  const web = await unfold(page, 'Web APIs');
  await web.getByText('Import an OpenAPI document').click();
  const operation = (operationId: string) => ({ operationId, summary: `Does ${operationId}`, responses: {} });
  const document = {
    ...{ openapi: '3.0.0', info: { title: 'Shop', version: '1' }, servers: [{ url: 'https://shop.example' }] },
    paths: { '/items': { get: operation('listItems'), delete: operation('dropItems') } },
  };
  await web.getByLabel('Or paste the document').fill('not a document');
  await web.getByRole('button', { name: 'Read the document' }).click();
  await web.getByRole('alert').getByText('cannot be imported').waitFor();
  await web.getByLabel('Or paste the document').fill(JSON.stringify(document));
  await web.getByRole('button', { name: 'Read the document' }).click();
  expect(await web.getByRole('checkbox', { name: /dropItems/ }).isChecked()).toBe(false);
  await web.getByRole('button', { name: 'Add 1 operation' }).click();
  await expect.poll(() => page.evaluate('document.activeElement.textContent')).toBe('Read the document');
  const bar = await page.locator('.builder-bar').boundingBox();
  const bottom = `document.activeElement.getBoundingClientRect().bottom`;
  await expect.poll(() => page.evaluate(bottom)).toBeLessThanOrEqual(bar?.y ?? 0);
  const line = web.locator('.builder-card > details > summary', { hasText: 'listItems' });
  expect(await line.innerText()).toMatch(/^GET\s+listItems\s+Does listItems$/);
  const address = web.getByLabel('Address · required');
  expect(await address.isVisible()).toBe(false);
  await line.focus();
  await page.keyboard.press('Enter');
  expect(await address.inputValue()).toBe('https://shop.example/items');
  expect(await address.isVisible()).toBe(true);

  await web.getByRole('button', { name: 'Add a web API' }).click();
  expect(await web.getByRole('combobox', { name: 'Kind: Kind' }).count()).toBe(0);
  expect(await page.evaluate('[document.activeElement.value, getSelection().toString()]')).toEqual([
    'New web API',
    'New web API',
  ]);
  await web.getByRole('button', { name: 'Add a web API' }).click();
  await page.locator('.builder-card-name', { hasText: 'New web API 2' }).waitFor();
  await web.getByRole('button', { name: 'Remove New web API 2' }).click();
  await web.getByRole('button', { name: 'Remove New web API', exact: true }).click();

  expect((await page.locator('.builder-disclosure-title').allInnerTexts()).map((name) => name.split('\n')[0])).toEqual([
    ...['Documents', 'Long chats and search', 'Other models and applications', 'Client tools', 'Web APIs', 'MCP servers'],
  ]);
  const documents = await unfold(page, 'Documents');
  await documents.getByText('PDF, Word, PowerPoint, and Excel files').waitFor();
  await documents
    .locator('input[type=file]')
    .setInputFiles({ name: 'hand book.txt', mimeType: 'text/plain', buffer: Buffer.from('Lunch is at noon.') });
  await documents.getByRole('button', { name: 'Remove hand book.txt' }).waitFor();
  await save(page);
  const { applicationProperties: properties } = await readApplication('toolbox');
  expect(properties).toMatchObject({
    applications_as_tools: ['other', { conditions: [{ condition_type: 'match', property_name: 'id', expression: '^de' }] }],
    web_api_toolset: [{ name: 'Shop', tools: [{ rest_api_method_info: { method_url: 'https://shop.example/items' } }] }],
    document_relative_url: [expect.stringMatching(/^files\/.+\/hand%20book\.txt$/)],
  });
  expect((properties.web_api_toolset as { tools: object[] }[])[0]?.tools).toHaveLength(1);
});

it.each(viewports)('collapses the operations of a web API and expands a new operation, %s', async (look, options) => {
  const operation = (name: string, method: string) => {
    const description = `Its effect, at length: ${'and more '.repeat(20)}`;
    const open_ai_tool = { type: 'function', function: { name, description, parameters: { type: 'object' } } };
    return { open_ai_tool, rest_api_method_info: { method_type: method, method_url: `https://shop.example/${name}` } };
  };
  const tools = [operation('list_items', 'get'), operation(`put_${'an_item_'.repeat(7)}`, 'put')];
  const place = getApplicationPath(`lines-${look.replaceAll(/\W/g, '-')}`);
  const entry = quickApp({ web_api_toolset: [{ type: 'rest-api', name: 'Shop', tools }] }, { displayName: `Lines ${look}` });
  expect(await saveThrough(service, place, entry)).toMatchObject({ status: 201 });
  const { page } = await openBuilder(options);
  await page.getByRole('link', { name: `Lines ${look}`, exact: true }).click();
  const web = page.locator('.builder-disclosure', { hasText: 'Web APIs' }).first();
  const lines = web.locator('.builder-card .builder-card > details');
  await lines.nth(1).waitFor();
  expect(await lines.evaluateAll((all) => all.map((each) => [each.hasAttribute('open'), each.clientHeight < 80]))).toEqual([
    [false, true],
    [false, true],
  ]);
  expect(await measureOverflow(page)).toBe(0);
  expect(await findViolations(page)).toEqual([]);
  await web.getByRole('button', { name: 'Add an operation' }).click();
  expect(await lines.nth(2).getAttribute('open')).toBe('');
  expect(await page.evaluate("document.activeElement.closest('details') !== null")).toBe(true);
  expect(await measureOverflow(page)).toBe(0);
  expect(await findViolations(page)).toEqual([]);
});

it('accepts a parameter name that starts with the name of another parameter', async () => {
  const { page } = await openBuilder();
  await startApplication(page, 'Names');
  const web = await unfold(page, 'Web APIs');
  await web.getByRole('button', { name: 'Add a web API' }).click();
  await web.getByRole('button', { name: 'Add an operation' }).click();
  await web.getByRole('button', { name: 'Add a parameter' }).click();
  await page.keyboard.type('city');
  await web.getByRole('button', { name: 'Add a parameter' }).click();
  await page.keyboard.type('city');
  await web.getByText('Another parameter has this name.').waitFor();
  await page.keyboard.type('_name');
  await web.locator('.builder-card-name').getByText('city_name', { exact: true }).waitFor();
  expect(await web.getByText('Another parameter has this name.').count()).toBe(0);
});

it('reports a URL placeholder without a parameter immediately, offers to add it, and accepts a new parameter once it has a name', async () => {
  const { page } = await openBuilder();
  await startApplication(page, 'Places');
  expect(await page.locator('label', { hasText: /^Instructions/ }).innerText()).toBe('Instructions');
  expect(await page.locator('label', { hasText: /^Model/ }).innerText()).toContain('required');
  const web = await unfold(page, 'Web APIs');
  await web.getByRole('button', { name: 'Add a web API' }).click();
  await web.getByRole('button', { name: 'Add an operation' }).click();
  expect(await web.getByText('Strict').count()).toBe(0);
  await web.getByLabel('Address · required').fill('https://shop.example/items/{id}/{part}');
  await web.getByText('The address contains {id}, but no parameter fills it.').waitFor();
  await web.getByRole('button', { name: 'Add the parameter id' }).click();
  await web.locator('.builder-card-name').getByText('id', { exact: true }).waitFor();
  expect(await web.getByText('but no parameter fills it').allInnerTexts()).toEqual([expect.stringContaining('{part}')]);
  await web.getByRole('button', { name: 'Add a parameter' }).click();
  await page.keyboard.type('part');
  await web.getByText('but no parameter fills it').waitFor({ state: 'detached' });
});

it('shows a web API in the obsolete form, and further web APIs, only where they were saved', async () => {
  const api = { auth_info: null, tool_endpoints: [] };
  const properties = { instructions: 'Help.', model: 'demo', temperature: 0, web_api_toolset_alternative: [api] };
  const entry = {
    applicationTypeSchemaId: 'x/custom_application_schemas/quickapps',
    displayName: 'Old',
    applicationProperties: properties,
  };
  const { json } = await service.sendRequest({ method: 'GET', path: '/v1/bucket', headers });
  const path = `/v1/applications/${(json as { bucket: string }).bucket}/old`;
  const { status, text } = await service.sendRequest({ method: 'PUT', path, headers, body: entry });
  expect([status, text]).toEqual([201, expect.any(String)]);
  const { page } = await openBuilder();
  await page.getByRole('link', { name: 'Old', exact: true }).click();
  const further = page.locator('.builder-disclosure', { hasText: 'More web APIs' });
  const kind = further.getByRole('combobox', { name: 'Kind: Kind' });
  await kind.waitFor();
  expect(await kind.locator('option').allTextContents()).toEqual(['A web API', 'A web API in the obsolete form']);
  await further.getByRole('button', { name: 'Remove More web APIs 1' }).click();
  await further.getByRole('button', { name: 'Add another web API' }).waitFor();
});

describe('the editor of applications', () => {
  it.each(viewports)('has no accessibility violations or overflow: %s', async (_look, options) => {
    const { page } = await openBuilder(options);
    expect(await findViolations(page)).toEqual([]);
    await startApplication(page, `Look ${'long'.repeat(30)}`);
    for (const summary of await page.locator('.builder-disclosure > summary').all()) await summary.click();
    for (const add of await page.locator('.builder-disclosure-body > .builder-list > .button:not([hidden])').all()) {
      if (!/Upload/.test((await add.textContent()) ?? '')) await add.click();
    }
    await page.locator('.builder-import > summary').first().click();
    expect(await findViolations(page)).toEqual([]);
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.locator('.builder-alert').waitFor();
    expect(await findViolations(page)).toEqual([]);
    expect(await measureOverflow(page)).toBe(0);
    await page.getByRole('radio', { name: 'JSON' }).check();
    expect(await findViolations(page)).toEqual([]);
  });

  it('is translated to German', async () => {
    const { page } = await openBuilder({ locale: 'de-DE' });
    await page.getByRole('button', { name: 'Neue Anwendung' }).click();
    await page.getByLabel(/^Anweisungen/).fill('Hilf.');
    await page.getByRole('button', { name: 'Vorschlag hinzufügen' }).waitFor();
    await page
      .locator('summary', { hasText: 'MCP-Server' })
      .getByText('Werkzeuge, die ein anderer Dienst anbietet (MCP)')
      .waitFor();
  });
});

it('shows a notice if the service does not store applications', async () => {
  await using bare = await startService({ models });
  const { page } = await openBuilder({}, bare.url);
  await page.getByText('does not store applications').waitFor();
  expect(await page.getByRole('button', { name: 'New application' }).count()).toBe(0);
});

it('never selects another user’s application by default and marks it as shared in every list', async () => {
  const place = getApplicationPath('trap', getProjectBucket('bob'));
  const trap = quickApp({}, { displayName: '- Demo', userRoles: ['default'] });
  expect((await saveThrough(service, place, trap, { 'api-key': 'bob' })).status).toBe(201);
  expect((await saveThrough(service, getApplicationPath('mine'), quickApp({}, { displayName: 'Mine' }))).status).toBe(201);
  const { page, reload } = await openBuilder();
  const sharer = 'Shared by another user';
  await page.evaluate(`localStorage.setItem('parley deployment', '${place.slice('/v1/'.length)}'); location.hash = '#/'`);
  await reload();
  await page.locator('.picker', { hasText: /Demo$/ }).waitFor();
  expect(await page.locator('.picker-name').innerText()).toBe('Demo');
  expect(await page.locator('.other-deployment').allInnerTexts()).not.toContain('- Demo');

  await page.locator('.picker').click();
  await page.locator('.picker-body h3').first().waitFor();
  expect(await page.locator('.picker-body h3').allInnerTexts()).toEqual(['From this service', 'Yours', 'Shared by others']);
  await page.locator('.option', { hasText: sharer }).click();
  await page.locator('.shared-strip').getByText('Application by another user').waitFor();

  await page.getByRole('link', { name: 'Your applications' }).click();
  await page.getByRole('link', { name: 'Mine', exact: true }).click();
  const model = page.getByLabel(/^Model/);
  await model.waitFor();
  expect(await model.locator('optgroup[label="Shared by others"] option').allTextContents()).toEqual([`- Demo · ${sharer}`]);
  expect(await model.locator('option').allTextContents()).not.toContain('Mine');
  const deploymentTools = await unfold(page, 'Other models and applications');
  await deploymentTools.getByRole('searchbox').fill('demo');
  expect(await deploymentTools.locator('.options button').allInnerTexts()).toEqual([
    'Demo',
    expect.stringMatching(/^- Demo\s*Shared by/),
  ]);
});
