import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { getBucket } from '#test/buckets.ts';
import { delta, finish, plainReply } from '#test/chunks.ts';
import { waitUntilListening } from '#test/listening.ts';
import { eventsReply, type ScriptedUpstream, startScriptedUpstream, type UpstreamExchange } from '#test/scripted-upstream.ts';
import type { TestResponse } from '#test/send-request.ts';
import { startService, type TestService, withKey } from '#test/start-service.ts';
import { getApplicationPath, quickApp, save } from '../applications/support.ts';

/** A server on this machine. It counts connections and records the requested paths. */
interface InternalServer {
  readonly server: Server;
  readonly port: number;
  readonly requestedPaths: string[];
  connections: number;
}

const bucket = getBucket('key:test');
let model: ScriptedUpstream;
/** Listens on all addresses of this machine. */
let internalServer: InternalServer;

async function startInternalServer(host: string, location?: () => string): Promise<InternalServer> {
  const requestedPaths: string[] = [];
  const server = createServer((request, response) => {
    requestedPaths.push(request.url ?? '');
    if (location === undefined) response.writeHead(200, { 'content-type': 'application/json' }).end('{"inner":"secret"}');
    else response.writeHead(307, { location: Buffer.from(location()).toString('latin1') }).end();
  });
  server.listen(0, host);
  await waitUntilListening(server);
  const started: InternalServer = { server, port: (server.address() as AddressInfo).port, requestedPaths, connections: 0 };
  server.on('connection', () => {
    started.connections += 1;
  });
  return started;
}

async function stop({ server }: InternalServer): Promise<void> {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
}

/** Calls each offered tool once, then answers with text. */
function callTools(exchange: UpstreamExchange): void | Promise<void> {
  const { tools = [], messages } = exchange.received.body as {
    tools?: { function: { name: string } }[];
    messages: { role: string }[];
  };
  if (tools.length === 0 || messages.at(-1)?.role === 'tool') return eventsReply(...plainReply('done'))(exchange);
  const calls = tools.map(({ function: { name } }, index) => ({
    index,
    id: `c${index}`,
    type: 'function' as const,
    function: { name, arguments: '{}' },
  }));
  return eventsReply(delta({ role: 'assistant', tool_calls: calls }), finish('tool_calls'))(exchange);
}

beforeAll(async () => {
  model = await startScriptedUpstream(callTools);
  internalServer = await startInternalServer('::');
});

afterAll(async () => {
  await model.close();
  await stop(internalServer);
});

const chatBody = { messages: [{ role: 'user', content: 'Hi' }] };
const createRestToolset = (url: string, authorization: object | null = null): object => ({
  web_api_toolset: [
    {
      type: 'rest-api',
      name: 'shop',
      authorization,
      tools: [
        {
          rest_api_method_info: { method_url: url, method_type: 'get' },
          open_ai_tool: {
            type: 'function',
            function: { name: 'find', description: 'It', parameters: { type: 'object', properties: {} } },
          },
        },
      ],
    },
  ],
});
const createMcpToolset = (url: string, protocol: string): object => ({
  mcp_toolset: [{ type: 'mcp', name: 'm', mcp_server_info: { url, protocol, authorization: null } }],
});
const createToolsetWithTokenUrl = (token_url: string): object =>
  createRestToolset('https://public.invalid/', {
    type: 'client_id_secret',
    client_id: 'c',
    client_secret: 's',
    token_url,
  });
const saveApplication = (service: TestService, entry: object): Promise<TestResponse> =>
  save(service, getApplicationPath('mine', bucket), entry);
const runSaved = async (service: TestService, entry: object): Promise<string> => {
  const { status, text } = await saveApplication(service, entry);
  if (status >= 400) return text;
  return (await service.chat(`applications/${bucket}/mine`, chatBody)).text;
};
const createAttachmentRequest = (url: string): object => ({
  messages: [
    {
      role: 'user',
      content: [
        { type: 'text', text: 'Look' },
        { type: 'image_url', image_url: { url } },
      ],
      custom_content: { attachments: [{ index: 0, type: 'text/plain', url, reference_url: url }] },
    },
  ],
});

/**
 * Ways for a client, the owner of an application, or a model to make the service call a URL. Each returns the answer to the
 * client.
 */
const outgoingCalls: Readonly<Record<string, (service: TestService, url: string) => Promise<string>>> = {
  'REST tool': (service, url) => runSaved(service, quickApp({ model: 'gpt', ...createRestToolset(url) })),
  'token endpoint of a REST tool': (service, url) =>
    runSaved(service, quickApp({ model: 'gpt', ...createToolsetWithTokenUrl(url) })),
  'MCP server': (service, url) => runSaved(service, quickApp({ model: 'gpt', ...createMcpToolset(url, 'streamable_http') })),
  'MCP server over SSE': (service, url) => runSaved(service, quickApp({ model: 'gpt', ...createMcpToolset(url, 'sse') })),
  'endpoint of a saved application': (service, url) => runSaved(service, { endpoint: url }),
  'POST /v1/tools/list': async (service, url) => {
    const toolset = { type: 'mcp', name: 'x', mcp_server_info: { url, protocol: 'streamable_http' } };
    return (await service.sendRequest({ path: '/v1/tools/list', headers: withKey(), body: { toolset } })).text;
  },
  'POST /v1/import-openapi': async (service, url) =>
    (await service.sendRequest({ path: '/v1/import-openapi', headers: withKey(), body: { url } })).text,
  'document of an addon': async (service, url) => {
    const reload = (): unknown =>
      service.reload(createConfiguration({ addons: { a: { url } }, ...keepAllowedNetworks(service) }));
    if (url.includes('user:pw@')) {
      expect(reload).toThrow('must not contain a user name or password');
      return '';
    }
    reload();
    return (await service.chat('gpt', { ...chatBody, addons: [{ name: 'a' }] })).text;
  },
};

function createConfiguration(more: object = {}): object {
  const upstreams = [{ endpoint: model.endpoint }];
  return { models: { gpt: { upstreams, maxRetryAttempts: 1 } }, tools: { connectMs: 1_000, timeoutMs: 2_000 }, ...more };
}

function keepAllowedNetworks({ snapshot }: TestService): object {
  const { allowPrivateNetworks } = snapshot.current().configuration.security;
  return { security: { allowPrivateNetworks } };
}

/** Hosts that all resolve to this machine. */
const loopbackSpellings = [
  ...['127.0.0.1', '127.1', '0177.0.0.1', '017700000001', '0x7f.0.0.1', '0x7f000001', '2130706433', '127.0.0.1.', '0', '0.0.0.0'],
  ...['①②⑦.⓪.⓪.①', '127。0。0。1', '%31%32%37.0.0.1', 'localhost', 'LOCALHOST.', 'user:pw@127.0.0.1'],
  ...['[::1]', '[::]', '[::ffff:127.0.0.1]', '[::ffff:7f00:1]', '[0:0:0:0:0:ffff:127.0.0.1]'],
];

/** Addresses of other machines that are not public. */
const nonPublicHosts = [
  ...['169.254.169.254', '[fd00:ec2::254]', '100.100.100.200', '100.64.0.1', '[64:ff9b::7f00:1]', '[64:ff9b::a9fe:a9fe]'],
  ...['10.0.0.1', '172.16.0.1', '192.168.0.1', '[fe80::1]', '[fc00::1]', '[2002:7f00:1::]', '224.0.0.1', '255.255.255.255'],
];

describe.each(Object.entries(outgoingCalls))('%s', (_name, callOut) => {
  it('does not reach this machine with any spelling of its address', async () => {
    await using service = await startService(createConfiguration());
    for (const host of loopbackSpellings) await callOut(service, `http://${host}:${internalServer.port}/canary`);
    expect([internalServer.connections, internalServer.requestedPaths]).toEqual([0, []]);
  });

  it('reaches this machine if the configuration allows it', async () => {
    await using service = await startService(createConfiguration({ security: { allowPrivateNetworks: ['127.0.0.1'] } }));
    await callOut(service, `http://127.0.0.1:${internalServer.port}/canary`);
    expect(internalServer.requestedPaths.splice(0)).toContain('/canary');
    internalServer.connections = 0;
  });

  it('does not follow a redirect from an allowed server to this machine', async () => {
    const hosts = [...loopbackSpellings];
    const server = await startInternalServer(
      '127.0.0.2',
      () => `http://${hosts.shift() ?? '127.0.0.1'}:${internalServer.port}/canary`,
    );
    await using service = await startService(createConfiguration({ security: { allowPrivateNetworks: ['127.0.0.2'] } }));
    // Parley remembers failures by URL for a while, so each path is different.
    for (const [index] of loopbackSpellings.entries()) await callOut(service, `http://127.0.0.2:${server.port}/${index}`);
    expect(server.requestedPaths.length).toBeGreaterThanOrEqual(loopbackSpellings.length);
    expect([internalServer.connections, internalServer.requestedPaths]).toEqual([0, []]);
    await stop(server);
  });

  it('is rejected for addresses that are not public', async () => {
    await using service = await startService(createConfiguration());
    for (const host of nonPublicHosts)
      expect(await callOut(service, `http://${host}/latest/meta-data/`)).toMatch(/is or resolves to a blocked address/);
  });
});

describe('URL in an attachment', () => {
  it('is never fetched by the service', async () => {
    const upstreams = [{ endpoint: model.endpoint, key: 'k' }];
    const once = { maxRetryAttempts: 1 };
    await using service = await startService({
      models: {
        gpt: { upstreams, ...once },
        claude: { upstreams: [{ ...upstreams[0], protocol: 'anthropic' }], ...once },
        gemini: { upstreams: [{ ...upstreams[0], protocol: 'gemini' }], ...once },
      },
      applications: { quick: quickApp({ model: 'gpt' }) },
      security: { allowPrivateNetworks: ['127.0.0.0/8', '::1'] },
    });
    for (const deployment of ['gpt', 'claude', 'gemini', 'quick']) {
      await service.chat(deployment, createAttachmentRequest(`http://127.0.0.1:${internalServer.port}/canary`));
    }
    expect(internalServer.requestedPaths).toEqual([]);
  });
});

describe('documents of an application', () => {
  it.each(['http://127.0.0.1/x', 'file:///etc/passwd', 'files/../../etc/passwd', 'files/%2e%2e/x', '//127.0.0.1/x', 'data:,x'])(
    'are files of its owner, not %s',
    async (reference) => {
      await using service = await startService(createConfiguration());
      const answer = await saveApplication(service, quickApp({ model: 'gpt', document_relative_url: reference }));
      expect([answer.status, answer.error.param]).toEqual([400, 'applicationProperties.document_relative_url']);
    },
  );
});
