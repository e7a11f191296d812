import { createHash, randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { exportJWK, generateKeyPair } from 'jose';
import Provider, { type SignInContext } from 'oidc-provider';
import { waitUntilListening } from '#test/listening.ts';

/** Audience of the tokens. */
export const audience = 'https://parley.example/api';
const client = { client_id: 'robot', client_secret: 'robot-secret', redirect_uris: ['http://127.0.0.1/back'] };
const scope = 'use';

export interface OidcServer extends AsyncDisposable {
  readonly issuer: string;
  /** Requested paths. */
  readonly asked: readonly string[];
  /** Returns a token of the client itself, with the subject `robot`. */
  robotToken(): Promise<string>;
  /** Returns a token of a user who signs in with the authorization code flow and PKCE. */
  userToken(user: string): Promise<string>;
  /** Sets the lifetime of new access tokens. */
  tokensLive(seconds: number): void;
  /** Replaces the signing keys and publishes only the new keys. */
  rotate(): Promise<void>;
  /** Closes the server. */
  stop(): Promise<void>;
}

type GetRoles = (user: string) => unknown;

/**
 * Starts an OpenID provider with JWT access tokens (RFC 9068). `getRoles` returns the roles for the claim `realm_access.roles`.
 * If `page` is set, it is a public client `page` with refresh tokens and a sign-in form.
 */
export async function startOidcServer(getRoles: GetRoles = () => undefined, page?: string): Promise<OidcServer> {
  const asked: string[] = [];
  const lifetime = { seconds: 600 };
  let answer: (request: IncomingMessage, response: ServerResponse) => void = () => undefined;
  const server = createServer((request, response) => {
    asked.push(request.url ?? '');
    answer(request, response);
  }).listen(0, '127.0.0.1');
  await waitUntilListening(server);
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const rotate = async (): Promise<void> => {
    answer = createHandler(
      new Provider(issuer, {
        ...createSettings(getRoles, lifetime),
        ...(page !== undefined && createPageSettings(page)),
        jwks: { keys: [await generateKey()] },
      }),
    );
  };
  await rotate();
  const stop = async (): Promise<void> => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  return {
    issuer,
    asked,
    robotToken: () => requestToken(issuer, { grant_type: 'client_credentials', scope }),
    userToken: (user) => signIn(issuer, user),
    tokensLive(seconds) {
      lifetime.seconds = seconds;
    },
    rotate,
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

async function generateKey(): Promise<object> {
  const { privateKey } = await generateKeyPair('RS256', { extractable: true });
  return { ...(await exportJWK(privateKey)), use: 'sig', alg: 'RS256', kid: randomBytes(8).toString('hex') };
}

const robot = { ...client, grant_types: ['client_credentials', 'authorization_code'] };

function createSettings(getRoles: GetRoles, lifetime: { readonly seconds: number }): object {
  return {
    clients: [robot],
    scopes: ['openid', scope],
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      revocation: { enabled: true },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => audience,
        useGrantedResource: () => true,
        getResourceServerInfo: () => ({ scope, audience, accessTokenFormat: 'jwt', jwt: { sign: { alg: 'RS256' } } }),
      },
    },
    ttl: {
      AccessToken: () => lifetime.seconds,
      ClientCredentials: 600,
      Grant: 600,
      IdToken: 600,
      Interaction: 600,
      RefreshToken: 600,
      Session: 600,
    },
    cookies: { keys: ['test'] },
    interactions: { url: () => '/sign-in' },
    loadExistingGrant: grantAll,
    findAccount: (_context: unknown, accountId: string) => ({ accountId, claims: () => ({ sub: accountId }) }),
    extraTokenClaims: (_context: unknown, { accountId, clientId }: { accountId?: string; clientId: string }) => ({
      realm_access: { roles: getRoles(accountId ?? clientId) },
    }),
  };
}

function createPageSettings(page: string): object {
  const pageClient = {
    client_id: 'page',
    token_endpoint_auth_method: 'none',
    redirect_uris: [page],
    grant_types: ['authorization_code', 'refresh_token'],
  };
  return {
    clients: [robot, pageClient],
    clientBasedCORS: (_context: unknown, origin: string) => origin === new URL(page).origin,
    issueRefreshToken: (_context: unknown, { clientId }: { clientId: string }) => clientId === 'page',
  };
}

/** Grants all requested scopes to each signed-in user. */
async function grantAll({ oidc: { account, client, provider } }: SignInContext): Promise<unknown> {
  const grant = new provider.Grant({ accountId: account.accountId, clientId: client.clientId });
  grant.addOIDCScope(`openid ${scope}`);
  grant.addResourceScope(audience, scope);
  await grant.save();
  return grant;
}

/** Signs in the user of the header `x-user` or of the form. */
function createHandler(provider: Provider): (request: IncomingMessage, response: ServerResponse) => void {
  const callback = provider.callback();
  return (request, response) => {
    if (request.url === '/sign-in') void finishSignIn(provider, request, response);
    else callback(request, response);
  };
}

async function finishSignIn(provider: Provider, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const known = request.headers['x-user'];
  if (known === undefined && request.method === 'GET') {
    response.setHeader('content-type', 'text/html');
    response.end(
      '<form method="post"><label>User <input name="user"></label><button>Continue</button><button name="cancel">Cancel</button></form>',
    );
    return;
  }
  const form = new URLSearchParams(known === undefined ? await text(request) : { user: String(known) });
  const cancelled = { error: 'access_denied', error_description: 'The user does not want to.' };
  const result = form.has('cancel') ? cancelled : { login: { accountId: form.get('user') } };
  await provider.interactionFinished(request, response, result);
}

async function requestToken(issuer: string, form: Record<string, string>): Promise<string> {
  const authorization = `Basic ${Buffer.from(`${client.client_id}:${client.client_secret}`).toString('base64')}`;
  const response = await fetch(`${issuer}/token`, {
    method: 'POST',
    headers: { authorization },
    body: new URLSearchParams(form),
  });
  const { access_token, ...rest } = (await response.json()) as { access_token?: string };
  if (access_token === undefined) throw new Error(JSON.stringify(rest));
  return access_token;
}

async function signIn(issuer: string, user: string): Promise<string> {
  const verifier = randomBytes(32).toString('base64url');
  const query = new URLSearchParams({
    client_id: client.client_id,
    response_type: 'code',
    scope: `openid ${scope}`,
    resource: audience,
    redirect_uri: client.redirect_uris[0] ?? '',
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
  });
  const cookies = new Map<string, string>();
  let url = new URL(`${issuer}/auth?${query}`);
  for (let step = 0; !url.searchParams.has('code'); step += 1) {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(url, { redirect: 'manual', headers: { cookie, 'x-user': user } });
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      cookies.set(name, value);
    }
    const next = response.headers.get('location');
    if (next === null || step === 5) throw new Error(`signing in ends at ${url}: ${await response.text()}`);
    url = new URL(next, url);
  }
  return requestToken(issuer, {
    grant_type: 'authorization_code',
    code: url.searchParams.get('code') ?? '',
    redirect_uri: client.redirect_uris[0] ?? '',
    code_verifier: verifier,
  });
}
