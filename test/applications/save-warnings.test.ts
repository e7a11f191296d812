import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { hello } from '#test/chunks.ts';
import { startService, type TestService, withKey } from '#test/start-service.ts';
import { watchNode } from '#test/watch-node.ts';
import { echo, startSessions } from '../mcp/servers.ts';
import { TestFiles } from '../retrieval/rig.ts';
import { getApplicationPath, ownBucket, quickApp, save, show } from './support.ts';

const models = {
  demo: { upstreams: [{ protocol: 'demo' }] },
  closed: { upstreams: [{ protocol: 'demo' }], userRoles: ['staff'] },
};
const security = { allowPrivateNetworks: ['127.0.0.1'] };
let documentStores: TestFiles;
let service: TestService;

beforeAll(async () => {
  documentStores = await TestFiles.open();
  service = await startService({ models, security }, documentStores.options);
});

afterAll(async () => {
  await service.close();
  await documentStores[Symbol.asyncDispose]();
});

function mcpToolset(url: string, allowed_tools: readonly string[]): object {
  return { type: 'mcp', name: 'Library', mcp_server_info: { url, protocol: 'streamable_http' }, allowed_tools };
}

async function saveAndGetWarnings(name: string, properties: object, fields: object = {}): Promise<unknown> {
  const { status, json } = await save(service, getApplicationPath(name), quickApp(properties, fields));
  expect([200, 201]).toContain(status);
  return (json as { warnings?: unknown }).warnings;
}

describe('the response to a saved application', () => {
  it('warns about names in allowed_tools that the server lacks', async () => {
    const { url } = await startSessions([echo]);
    expect(await saveAndGetWarnings('tools', { mcp_toolset: [mcpToolset(url, ['echo', 'ehco'])] })).toEqual([
      {
        path: 'applicationProperties.mcp_toolset[0].allowed_tools[1]',
        message:
          'applicationProperties.mcp_toolset[0].allowed_tools[1] names the tool ehco, which the MCP server Library does not have.',
      },
    ]);
  });

  it('does not warn about the tools of a server that cannot be reached', async () => {
    const { url, stop } = await startSessions([echo]);
    await stop();
    expect(await saveAndGetWarnings('away', { mcp_toolset: [mcpToolset(url, ['ehco'])] })).toBeUndefined();
  });

  it('warns about deployments that do not exist or are closed to the owner', async () => {
    const message = 'names a deployment that does not exist or that you cannot use.';
    const tools = 'applicationProperties.applications_as_tools[1]';
    expect(
      await saveAndGetWarnings(
        'calls',
        { applications_as_tools: ['demo', 'nobody'] },
        { dependencies: ['demo', 'lost', 'closed'] },
      ),
    ).toEqual([
      { path: 'dependencies[1]', message: `dependencies[1] ${message}` },
      { path: 'dependencies[2]', message: `dependencies[2] ${message}` },
      { path: tools, message: `${tools} ${message}` },
    ]);
  });

  it('warns about documents without searchable text', async () => {
    const [text, photo] = [
      await documentStores.put('notes.txt', 'Notes.', ownBucket),
      await documentStores.put('photo.png', '\u0089PNG', ownBucket),
    ];
    const path = 'applicationProperties.document_relative_url[1]';
    expect(await saveAndGetWarnings('reader', { document_relative_url: [text, photo] })).toEqual([
      { path, message: `${path} names a file of a type that cannot be searched. Use PDF, docx, xlsx, pptx, or text.` },
    ]);
  });

  it('has no warnings if there are no issues, and can be saved again with its warnings', async () => {
    expect(await saveAndGetWarnings('fine', {}, { dependencies: ['demo'] })).toBeUndefined();
    const response = await save(service, getApplicationPath('again'), quickApp({}, { dependencies: ['lost'] }));
    expect(response.json).toHaveProperty('warnings');
    expect((await show(service, getApplicationPath('again'))).json).not.toHaveProperty('warnings');
    expect((await save(service, getApplicationPath('again'), response.json)).status).toBe(200);
  });
});

describe('the issues of a node', () => {
  async function startWithNodeState(applications: object) {
    const watch = watchNode();
    const watched = await startService({ models, security, applications }, { ...documentStores.options, ...watch.options });
    return { watched, log: watch.log, state: watch.createState(watched) };
  }

  it('contain tools that a configured application allows and the server lacks, until the server has them', async () => {
    const tools = [echo];
    const { url } = await startSessions(tools, { ttlMs: 0 });
    const app = quickApp({ mcp_toolset: [mcpToolset(url, ['echo', 'ehco'])] });
    const { watched, log, state } = await startWithNodeState({ app });
    await using _ = watched;
    await watched.chat('app', { messages: hello });
    await watched.chat('app', { messages: hello });
    const message = 'allowed_tools of app names tools that the MCP server Library does not have: ehco';
    expect([log, state.listIssues()]).toEqual([[message], [{ code: 'tool_missing', message }]]);
    state.unusableParts.record({ kind: 'tools', application: 'app', toolset: 'Library', names: [] });
    expect(state.listIssues()).toEqual([]);
  });

  it('contain documents of a configured application that cannot be read', async () => {
    const reference = await documentStores.put('broken.pdf', '%PDF-1.7 without further content');
    const { watched, log, state } = await startWithNodeState({ app: quickApp({ document_relative_url: reference }) });
    await using _ = watched;
    await watched.sendRequest({ method: 'GET', path: '/v1/deployments/app/documents', headers: withKey() });
    await vi.waitFor(() => expect(log).toHaveLength(1), 10_000);
    expect(state.listIssues()).toEqual([{ code: 'document_unreadable', message: log[0] }]);
    expect(log[0]).toContain(`app cannot search ${reference}: `);
  });
});
