import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { type TestService, withKey } from '#test/start-service.ts';
import { getApplicationPath, show } from '../applications/support.ts';
import { startSessions } from '../mcp/servers.ts';
import { quickApp } from '../quick-apps/support.ts';
import { openEditor, store } from './builder-support.ts';
import { startBrowser, startPageService, type TestBrowser } from './support.ts';
import { findViolations, measureOverflow } from './violations.ts';

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

const run = () => ({});
const inputSchema = { type: 'object', properties: { path: { type: 'string' }, from: { type: 'integer' } }, required: ['path'] };

it.each(['light', 'dark'] as const)(
  'lists the live tools of a server and keeps the selected tools if the server fails (%s)',
  async (colorScheme) => {
    let isLocked = true;
    const server = await startSessions(
      [
        {
          name: 'read',
          title: 'Read a file',
          description: 'Reads the stock.',
          inputSchema,
          annotations: { readOnlyHint: true },
          run,
        },
        { name: 'write', description: 'Writes a file.', run },
      ],
      { before: () => (isLocked ? new Response('', { status: 401 }) : undefined) },
    );
    const toolset = {
      ...{ type: 'mcp', name: 'Files', allowed_tools: ['old'] },
      mcp_server_info: { url: server.url, protocol: 'streamable_http' },
    };
    const name = `files-${colorScheme}`;
    await store(service, name, quickApp({ mcp_toolset: [toolset] }, { displayName: 'Files' }));
    const viewport = { width: 390, height: 844 };
    const { page, issues } = await openEditor(name, { browser, service, options: { colorScheme, viewport } });
    const tools = page.getByRole('group', { name: /^Allowed tools/ });
    await tools.getByRole('button', { name: 'Show its tools' }).click();
    await tools.getByRole('alert').getByText('The server requires credentials.').waitFor();
    expect(await tools.getByRole('checkbox', { name: 'old' }).isChecked()).toBe(true);
    expect(await findViolations(page)).toEqual([]);
    isLocked = false;
    await tools.getByRole('button', { name: 'Try again' }).click();
    const read = tools.getByRole('checkbox', { name: /^Read a file read read-only/ });
    await read.waitFor();
    await tools.getByText('Required: path').waitFor();
    await tools.getByText('Optional: from').waitFor();
    await tools.getByText('The server does not currently offer this tool.').waitFor();
    expect(await tools.getByRole('alert').count()).toBe(0);
    await read.check();
    await tools.getByRole('checkbox', { name: /^old/ }).uncheck();
    expect(await findViolations(page)).toEqual([]);
    expect(await measureOverflow(page)).toBe(0);
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('Everything is saved').waitFor();
    const saved = await show(service, getApplicationPath(name), withKey()['api-key']);
    expect(saved.json).toMatchObject({ applicationProperties: { mcp_toolset: [{ allowed_tools: ['read'] }] } });
    expect(issues).toEqual({ externalRequests: [], errors: [] });
  },
);
