import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import type { TestService } from '#test/start-service.ts';
import { echo, startSessions, text } from '../mcp/servers.ts';
import { startWebServer } from '../mcp/support.ts';
import { quickApp } from '../quick-apps/support.ts';
import { openEditor, store } from './builder-support.ts';
import { startBrowser, startPageService, type TestBrowser } from './support.ts';
import { findViolations, measureOverflow, viewports } from './violations.ts';

vi.setConfig({ testTimeout: 60_000 });

let browser: TestBrowser;
let service: TestService;

beforeAll(async () => {
  browser = await startBrowser();
  service = await startPageService({
    models: { model: { displayName: 'Model', upstreams: [{ protocol: 'demo' }] } },
    security: { allowPrivateNetworks: ['127.0.0.1'] },
  });
});

afterAll(async () => {
  await service.close();
});

const idProperty = { type: 'integer', title: 'Number of the item', parameter_info: { type: 'query' } };
const fixedProperty = { type: 'string', const: 'brief', parameter_info: { type: 'query' } };
const parameters = { type: 'object', properties: { id: idProperty, mode: fixedProperty }, required: ['id'] };

function webApi(url: string): object {
  const find = { name: 'find', description: 'Finds an item.', parameters };
  const rest_api_method_info = { method_url: `${url}/items`, method_type: 'get' };
  const tools = [{ rest_api_method_info, open_ai_tool: { type: 'function', function: find } }];
  return { type: 'rest-api', name: 'Items', tools };
}

it.each(viewports)('tests an operation of a web API with the unsaved values of the form: %s', async (look, options) => {
  let status = 200;
  const queries: string[] = [];
  const api = await startWebServer(({ url }) => {
    queries.push(new URL(url).search);
    return Response.json({ name: 'Lamp' }, { status });
  });
  const name = `items-${look}`;
  await store(service, name, quickApp({ web_api_toolset: [webApi('http://127.0.0.1:1')] }, { displayName: 'Items' }));
  const { page, issues } = await openEditor(name, { browser, service, options });
  await page.locator('summary', { hasText: 'Finds an item.' }).click();
  await page
    .getByLabel('method_url')
    .or(page.getByLabel(/^Address/))
    .first()
    .fill(`${api.url}/items`);
  await page.locator('.tool-test summary').click();
  const test = page.locator('.tool-test-body');
  expect(await test.getByLabel('mode').count()).toBe(0);
  await test.getByRole('button', { name: 'Run' }).click();
  expect(queries).toEqual([]);
  await test.getByLabel('Number of the item').fill('7');
  await test.getByRole('button', { name: 'Run' }).click();
  await test.getByText(/^It answered after/).waitFor();
  await test.getByText('"Lamp"').waitFor();
  expect(await findViolations(page)).toEqual([]);
  expect(await measureOverflow(page)).toBe(0);
  status = 503;
  await test.getByRole('button', { name: 'Run' }).click();
  await test.getByText(/^It failed after/).waitFor();
  await test.locator('pre', { hasText: '503' }).waitFor();
  expect(queries).toEqual(['?mode=brief&id=7', '?mode=brief&id=7']);
  expect(await findViolations(page)).toEqual([]);
  expect(issues).toEqual({ externalRequests: [], errors: [] });
});

it('tests an operation in the obsolete form', async () => {
  const queries: string[] = [];
  const api = await startWebServer(({ url }) => {
    queries.push(new URL(url).search);
    return Response.json({ name: 'Lamp' });
  });
  const parameter = { description: 'Number of the item', parameter_type: 'integer', url_param: true };
  const endpoint = {
    ...{ name: 'find', method_url: `${api.url}/items`, method_type: 'get', description: 'Finds an item.' },
    parameters: [
      { name: 'id', ...parameter },
      { ...parameter, name: 'mode', parameter_type: 'string', constant_value: 'brief' },
    ],
  };
  const toolset = { auth_info: null, tool_endpoints: [endpoint] };
  await store(service, 'obsolete', quickApp({ web_api_toolset: [toolset] }, { displayName: 'Obsolete' }));
  const { page, issues } = await openEditor('obsolete', { browser, service });
  const test = page.locator('.tool-test').first();
  await test.waitFor({ state: 'attached' });
  for (const summary of await page.locator('.builder-disclosure summary').all()) {
    if (!(await test.isVisible())) await summary.click();
  }
  await test.locator('summary').click();
  expect(await test.getByLabel('mode').count()).toBe(0);
  await test.getByLabel(/^Id/).fill('7');
  await test.getByRole('button', { name: 'Run' }).click();
  await test.getByText(/^It answered after/).waitFor();
  expect(new URLSearchParams(queries.at(-1)).get('id')).toBe('7');
  expect(new URLSearchParams(queries.at(-1)).get('mode')).toBe('brief');
  expect(await findViolations(page)).toEqual([]);
  expect(issues).toEqual({ externalRequests: [], errors: [] });
});

it('tests a live tool before it is selected and stops a slow test run', async () => {
  let isSlow = false;
  const read = {
    ...echo,
    name: 'read',
    title: 'Read a file',
    inputSchema: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
    run: ({ path }: { path?: unknown }) => (isSlow ? new Promise<never>(() => undefined) : text(`All of ${path}`)),
  };
  const server = await startSessions([read]);
  const toolset = {
    type: 'mcp',
    name: 'Files',
    allowed_tools: [],
    mcp_server_info: { url: server.url, protocol: 'streamable_http' },
  };
  await store(service, 'tried', quickApp({ mcp_toolset: [toolset] }, { displayName: 'Files' }));
  const { page, issues } = await openEditor('tried', { browser, service });
  await page.getByRole('button', { name: 'Show its tools' }).click();
  await page.locator('.tool-test summary').click();
  const test = page.locator('.tool-test-body');
  await test.getByLabel('path').fill('notes.txt');
  await test.getByRole('button', { name: 'Run' }).click();
  await test.getByText('All of notes.txt').waitFor();
  isSlow = true;
  await test.getByRole('button', { name: 'Run' }).click();
  await test.getByText('Running…').waitFor();
  await test.getByRole('button', { name: 'Stop' }).click();
  await test.getByText('Running…').waitFor({ state: 'detached' });
  await server.stop();
  await test.getByRole('button', { name: 'Run' }).click();
  await test.getByText(/^It failed after/).waitFor();
  expect(await findViolations(page)).toEqual([]);
  expect(issues).toEqual({ externalRequests: [], errors: [] });
});

it('tests a deployment that the application uses as a tool', async () => {
  await store(service, 'asks', quickApp({ applications_as_tools: ['model'] }, { displayName: 'Asks' }));
  const { page, issues } = await openEditor('asks', { browser, service });
  await page.locator('.tool-test summary', { hasText: 'Test Model' }).click();
  const test = page.locator('.tool-test-body');
  await test.getByLabel('Question').fill('Hello');
  await test.getByRole('button', { name: 'Run' }).click();
  await test.getByText(/^It answered after/).waitFor();
  expect((await test.locator('pre').textContent())?.length).toBeGreaterThan(5);
  expect(issues).toEqual({ externalRequests: [], errors: [] });
});
