import { delta, finish, plainCompletion, plainReply } from '#test/chunks.ts';
import { eventsReply, jsonReply, type UpstreamExchange } from '#test/scripted-upstream.ts';
import { quickApp } from '../applications/support.ts';
import { createProviderEntry, type Issuer } from '../identity/support.ts';

/** Returns a value without a known format, so that no pattern can detect it. */
export function createCanary(name: string): string {
  return `zebra${Buffer.from(name).toString('hex')}quagga`;
}

const secretNames = [
  ...[
    'caller key',
    'named key',
    'other key',
    'upstream key',
    'upstream header',
    'app address',
    'addon key',
    'redis password',
    'parley secret',
    'token claim',
  ],
  ...[
    'rest header',
    'rest query',
    'rest body',
    'basic password',
    'bearer token',
    'client secret',
    'access token',
    'mcp key',
    'old web key',
  ],
  ...['saved rest', 'saved basic', 'saved bearer', 'saved client secret', 'saved mcp'],
] as const;
/** Values that only their recipients may see. */
export const secrets = Object.fromEntries(secretNames.map((name) => [name, createCanary(name)])) as Record<
  (typeof secretNames)[number],
  string
>;
/** Content of users and models. */
export const contents = {
  message: createCanary('message'),
  reply: createCanary('reply'),
  argument: createCanary('argument'),
  file: createCanary('file'),
};

function createRestToolset(hostUrl: string, name: string, authorization: object | null): object {
  const parameters = {
    type: 'object',
    properties: {
      word: { type: 'string' },
      fixed: { type: null, const: 'fixed words', parameter_info: { type: 'header', key: 'x-fixed' } },
    },
  };
  return {
    type: 'rest-api',
    name,
    authorization,
    tools: [
      {
        rest_api_method_info: { method_url: `${hostUrl}/tool`, method_type: 'post' },
        open_ai_tool: { type: 'function', function: { name, description: 'It', parameters } },
      },
    ],
  };
}

function createMcpToolset(hostUrl: string, name: string, key: string): object {
  const authorization = { type: 'api_key', name: 'x-mcp', key };
  return { type: 'mcp', name, mcp_server_info: { url: `${hostUrl}/mcp/${name}`, protocol: 'streamable_http', authorization } };
}

/** Returns toolsets with every kind of authorization. */
export function createTools(
  hostUrl: string,
  of: { header: string; basic: string; bearer: string; client: string; mcp: string },
): object {
  return {
    web_api_toolset: [
      createRestToolset(hostUrl, 'in_header', { type: 'api_key', key: of.header, name: 'x-shop', location: 'header' }),
      createRestToolset(hostUrl, 'by_basic', { type: 'basic', username: 'user', password: of.basic }),
      createRestToolset(hostUrl, 'by_bearer', { type: 'bearer', token: of.bearer }),
      createRestToolset(hostUrl, 'by_client', {
        type: 'client_id_secret',
        client_id: 'id',
        client_secret: of.client,
        token_url: `${hostUrl}/token`,
      }),
    ],
    mcp_toolset: [createMcpToolset(hostUrl, 'server', of.mcp)],
  };
}

/** Returns a configuration with a secret in every field that can have one. */
export function createConfiguration(hostUrl: string, issuer: Issuer): object {
  const upstreams = [
    { endpoint: `${hostUrl}/v1`, key: secrets['upstream key'], headers: { 'x-extra': secrets['upstream header'] } },
  ];
  const once = { maxRetryAttempts: 1 };
  const configured = createTools(hostUrl, {
    header: secrets['rest header'],
    basic: secrets['basic password'],
    bearer: secrets['bearer token'],
    client: secrets['client secret'],
    mcp: secrets['mcp key'],
  });
  const more = [
    createRestToolset(hostUrl, 'in_query', { type: 'api_key', key: secrets['rest query'], name: 'k', location: 'query' }),
    createRestToolset(hostUrl, 'in_body', { type: 'api_key', key: secrets['rest body'], name: 'k', location: 'body' }),
    {
      auth_info: { auth_type: 'apikey', api_key: secrets['old web key'], url_param: true },
      tool_endpoints: [{ name: 'old_way', method_url: `${hostUrl}/tool`, method_type: 'get', description: 'It', parameters: [] }],
    },
  ];
  const { web_api_toolset: kinds, ...others } = configured as { web_api_toolset: object[] };
  return {
    models: {
      gpt: { upstreams, ...once },
      bad: { upstreams, ...once },
      late: { upstreams, ...once },
      claude: { upstreams: upstreams.map((each) => ({ ...each, protocol: 'anthropic' })), ...once },
      vectors: { type: 'embedding', upstreams, ...once },
    },
    applications: {
      app: {
        endpoint: `${hostUrl}/app?key=${secrets['app address']}`,
        features: { consentRequired: true },
        dependencies: ['gpt'],
      },
      quick: quickApp({ model: 'gpt', web_api_toolset: [...kinds, ...more], ...others }),
    },
    addons: {
      addon: {
        url: `${hostUrl}/addon`,
        authorization: { type: 'api_key', key: secrets['addon key'], name: 'x-addon', location: 'header' },
      },
    },
    keys: {
      [secrets['caller key']]: { project: 'test', role: 'counted' },
      named: { key: secrets['named key'], project: 'named' },
      third: { key: secrets['other key'], project: 'third' },
    },
    roles: { counted: { limits: { '*': { day: 1_000_000 } } } },
    identityProviders: { sso: createProviderEntry(issuer) },
    addin: { enabled: true },
    security: { allowPrivateNetworks: ['127.0.0.1'] },
  };
}

/** Returns the complete request in an error, like a hostile server. */
function echo({ received, response }: UpstreamExchange, status: number): void {
  const { path, headers, text } = received;
  response.writeHead(status, { 'content-type': 'application/json', 'x-echo': 'yes' });
  response.end(JSON.stringify({ error: { message: `cannot serve ${path} ${JSON.stringify(headers)} ${text}` } }));
}

/** A model that calls each offered tool and fails as the message requests. */
function answerAsModel(exchange: UpstreamExchange): void | Promise<void> {
  const { received } = exchange;
  const command = /do: (\w+)/.exec(received.text)?.[1];
  const { authorization, 'x-api-key': key, 'x-extra': extra } = received.headers;
  const message = `the key ${authorization ?? key} of ${extra} is wrong`;
  if (command === 'refuse') return jsonReply({ error: { message } }, 401)(exchange);
  if (command === 'fail') return jsonReply({ error: { message } }, 400)(exchange);
  if (command === 'break') return exchange.destroyConnection();
  if (command === 'late') return eventsReply(delta({ role: 'assistant', content: 'Well' }), { error: { message } })(exchange);
  if (received.path.endsWith('/embeddings'))
    return jsonReply({ object: 'list', data: [{ index: 0, embedding: [1] }], usage: {} })(exchange);
  const body = received.body as { tools?: { function: { name: string } }[]; messages: { role: string }[] };
  if (body.tools === undefined || body.messages.at(-1)?.role === 'tool')
    return eventsReply(...plainReply(contents.reply))(exchange);
  const calls = body.tools.map(({ function: { name } }, index) => {
    const args = JSON.stringify({ word: contents.argument });
    return { index, id: `c${index}`, type: 'function' as const, function: { name, arguments: args } };
  });
  return eventsReply(delta({ role: 'assistant', tool_calls: calls }), finish('tool_calls'))(exchange);
}

function createAddonDocument(hostUrl: string): object {
  const operation = { operationId: 'by_addon', responses: {}, security: [{ key: [] }] };
  return {
    openapi: '3.0.0',
    info: { title: 'Addon', version: '1' },
    servers: [{ url: hostUrl }],
    paths: { '/tool': { post: operation } },
    components: { securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'x-addon' } } },
  };
}

/** Serves models, applications, tools, and addons. `onKey` is called with each key that an application receives. */
export function answerAll(exchange: UpstreamExchange, hostUrl: string, onKey: (key: string) => void): void | Promise<void> {
  const { path, headers, text } = exchange.received;
  if (path.startsWith('/v1/')) return answerAsModel(exchange);
  if (path === '/addon') return jsonReply(createAddonDocument(hostUrl))(exchange);
  if (path === '/token') return jsonReply({ access_token: secrets['access token'], expires_in: 60 })(exchange);
  if (!path.startsWith('/app')) return echo(exchange, path.startsWith('/tool') ? 200 : 500);
  onKey(String(headers['api-key']));
  const message = `Api-Key: ${headers['api-key']} cannot do it`;
  return text.includes('do: fail')
    ? jsonReply({ error: { message } }, 500)(exchange)
    : jsonReply(plainCompletion(contents.reply))(exchange);
}
