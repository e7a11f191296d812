import { OAuth2Server } from 'oauth2-mock-server';
import { toBucket } from '#domain/files/bucket.ts';
import { finish, plainCompletion, delta as toDelta } from '#test/chunks.ts';
import { eventsReply, jsonReply, startScriptedUpstream, type UpstreamExchange } from '#test/scripted-upstream.ts';
import { sendRequest, type TestResponse } from '#test/send-request.ts';
import { startWatched, type WatchedNode } from '../support/watched-node.ts';

const audience = 'https://parley.example/api';
const userNames = ['victim', 'attacker'] as const;
export type UserName = (typeof userNames)[number];

/** One user with a token and with keys that the user created. */
interface User {
  readonly name: UserName;
  readonly bucket: string;
  readonly token: string;
  /** Key that is bound to the model `open` and to `applications/<bucket>/own`. */
  readonly boundKey: string;
}

/** A request that a program received since the last action. */
interface ProgramRequest {
  /** `published`, `own`, `configured`, or a feature of one of them. */
  readonly program: string;
  readonly owner: string;
  /** Path with the query. */
  readonly path: string;
  readonly text: string;
  readonly headers: Readonly<Record<string, unknown>>;
}

interface Reading {
  /** Name of the user who owns the reading program. */
  readonly owner: string;
  readonly text: string;
}

/** A service with two users, the programs that each of them published, and the requests that these programs received. */
export interface RightsWorld extends AsyncDisposable {
  readonly node: WatchedNode;
  readonly users: Readonly<Record<UserName, User>>;
  readonly received: ProgramRequest[];
  /** Data that saved programs read with the keys that they received. */
  readonly readings: Reading[];
  /** Sets the URLs that programs attach to their replies and read with their key. */
  attach(urls: readonly string[]): void;
  as(
    credentials: string,
    method: string,
    path: string,
    body?: unknown,
    headers?: Readonly<Record<string, string>>,
  ): Promise<TestResponse>;
}

/** Returns the canary in a private file of a user. */
export function createCanary(name: UserName, what: string): string {
  return `zebra-${name}-${what}-quagga`;
}

export async function openRightsWorld(): Promise<RightsWorld> {
  const issuer = new OAuth2Server();
  await issuer.issuer.keys.generate('RS256', { kid: 'key-1' });
  await issuer.start(0, '127.0.0.1');
  const issuerUrl = `http://127.0.0.1:${issuer.address().port}`;
  issuer.issuer.url = issuerUrl;
  const received: ProgramRequest[] = [];
  const readings: Reading[] = [];
  let attached: readonly string[] = [];
  let nodeUrl = '';
  const program = async (exchange: UpstreamExchange): Promise<void> => {
    const { path, headers, text } = exchange.received;
    const [, owner = '', name = ''] = path.split(/[/?]/);
    received.push({ program: name, owner, path, text, headers });
    const key = headers['api-key'];
    if (typeof key === 'string' && owner !== 'configured')
      for (const url of attached) {
        const { status, text: content } = await sendRequest(nodeUrl, {
          method: 'GET',
          path: `/v1/${url}`,
          headers: { 'api-key': key },
        });
        if (status === 200) readings.push({ owner, text: content });
      }
    const attachments = attached.map((url) => ({ type: 'text/plain', title: 'a', url }));
    const isStream = /"stream":\s*true/.test(text);
    if (isStream)
      return eventsReply(
        toDelta({ role: 'assistant', content: 'hi', custom_content: { attachments } } as never),
        finish(),
      )(exchange);
    const completion = plainCompletion('hi') as { choices: { message: object }[] };
    const [choice] = completion.choices;
    return jsonReply({
      ...completion,
      choices: [{ ...choice, message: { ...choice?.message, custom_content: { attachments } } }],
    })(exchange);
  };
  // The model calls the first offered tool, so that quick apps call other applications.
  const model = (exchange: UpstreamExchange): void | Promise<void> => {
    const { tools, messages = [] } = exchange.received.body as {
      tools?: { function: { name: string } }[];
      messages?: { role: string }[];
    };
    if (tools === undefined || messages.at(-1)?.role === 'tool')
      return eventsReply(toDelta({ role: 'assistant', content: 'hi' }), finish())(exchange);
    const calls = tools.slice(0, 2).map(({ function: { name } }, index) => ({
      index,
      id: `c${index}`,
      type: 'function' as const,
      function: { name, arguments: JSON.stringify({ query: 'x', prompt: 'x' }) },
    }));
    return eventsReply(toDelta({ role: 'assistant', tool_calls: calls }), finish('tool_calls'))(exchange);
  };
  const host = await startScriptedUpstream((exchange) =>
    exchange.received.path.startsWith('/v1/') ? model(exchange) : program(exchange),
  );
  const node = await startWatched({ configuration: toConfiguration(host, issuerUrl) });
  nodeUrl = node.url;
  const as: RightsWorld['as'] = (credentials, method, path, body, headers = {}) => {
    const type = typeof body === 'string' ? 'text/plain' : 'application/json';
    const all = { authorization: `Bearer ${credentials}`, ...(body !== undefined && { 'content-type': type }), ...headers };
    return sendRequest(node.url, { method, path, headers: all, body });
  };
  const createUser = async (name: UserName): Promise<User> => {
    const token = await issuer.issuer.buildToken({
      scopesOrTransform: (_header, payload) => void Object.assign(payload, { sub: name, aud: audience, roles: ['maker'] }),
    });
    const bucket = toBucket(name);
    await prepare({ name, bucket, token }, host.url, as);
    const deployments = ['open', `applications/${bucket}/own`];
    const created = await as(token, 'POST', '/v1/user/keys', { deployments });
    if (created.status !== 201) throw new Error(created.text);
    return { name, bucket, token, boundKey: (created.json as { key: string }).key };
  };
  const users = { victim: await createUser('victim'), attacker: await createUser('attacker') };
  return {
    ...{ node, users, received, readings, as },
    attach(urls) {
      attached = urls;
    },
    async [Symbol.asyncDispose]() {
      await node[Symbol.asyncDispose]();
      await host.close();
      await issuer.stop();
    },
  };
}

/** Saves the programs and the private files of a user. */
async function prepare({ name, bucket, token }: Omit<User, 'boundKey'>, hostUrl: string, as: RightsWorld['as']): Promise<void> {
  const features = Object.fromEntries(
    ['configurationEndpoint', 'rateEndpoint', 'tokenizeEndpoint'].map((feature) => [feature, `${hostUrl}/${name}/${feature}`]),
  );
  const entries: Readonly<Record<string, object>> = {
    published: { endpoint: `${hostUrl}/${name}/published`, features, userRoles: ['maker'] },
    own: { endpoint: `${hostUrl}/${name}/own` },
    quick: {
      applicationTypeSchemaId: 'https://x.test/custom_application_schemas/quickapps',
      applicationProperties: { temperature: 0, instructions: 'Be kind.', model: 'open', applications_as_tools: [anyApplication] },
    },
  };
  for (const [app, entry] of Object.entries(entries))
    require201(await as(token, 'PUT', `/v1/applications/${bucket}/${app}`, entry));
  for (const file of ['private', 'attached']) {
    const { status, text } = await as(token, 'PUT', `/v1/files/${bucket}/${file}.txt`, createCanary(name, file));
    if (status !== 200) throw new Error(text);
  }
}

function require201({ status, text }: TestResponse): void {
  if (status !== 201) throw new Error(text);
}

const anyApplication = { conditions: [{ condition_type: 'eq', property_name: 'application', const: true }] };

function toConfiguration({ url, endpoint }: { readonly url: string; readonly endpoint: string }, issuerUrl: string): object {
  const upstreams = [{ endpoint }];
  return {
    models: { open: { upstreams }, closed: { upstreams } },
    applications: {
      configured: { endpoint: `${url}/configured/configured` },
      finder: {
        applicationTypeSchemaId: 'https://x.test/custom_application_schemas/quickapps',
        applicationProperties: {
          temperature: 0,
          instructions: 'Be kind.',
          model: 'open',
          applications_as_tools: [anyApplication],
        },
      },
    },
    identityProviders: { sso: { issuer: issuerUrl, jwksUrl: `${issuerUrl}/jwks`, audience, rolesClaim: 'roles' } },
    roles: { maker: { selfService: { keys: 3, maxDays: 30 } } },
    security: { allowPrivateNetworks: ['127.0.0.1'] },
  };
}
