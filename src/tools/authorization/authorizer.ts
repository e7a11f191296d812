import type { Authorization } from '#contract/configuration/authorization.ts';
import type { ClientCredentials, TokenCache } from './token-cache.ts';

/** What is put into a request so that its server knows who calls. It wins over everything else in the request. */
export interface Credentials {
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  readonly body: Readonly<Record<string, string>>;
}

export interface Authorizer {
  /** Rejects with ToolFault if a token cannot be had, or with the signal's reason. */
  getCredentials(signal: AbortSignal): Promise<Credentials>;
  /** To be told when a server answered 401; gives whether other credentials may be had by asking again. */
  onRejected(credentials: Credentials): boolean;
}

export const noCredentials: Credentials = { headers: {}, query: {}, body: {} };

/** How the server of a tool is told who calls (docs/wire.md, Quick apps); without an authorization it is told nothing. */
export function createAuthorizer(authorization: Authorization | null | undefined, tokens: TokenCache): Authorizer {
  switch (authorization?.type) {
    case undefined:
      return createFixed(noCredentials);
    case 'api_key':
      return createFixed(toApiKey(authorization));
    case 'basic':
      return createFixed(createHeader('authorization', toBasic(authorization.username, authorization.password)));
    case 'bearer':
      return createFixed(createHeader('authorization', `Bearer ${authorization.token}`));
    case 'client_id_secret':
      return createTokenAuthorizer(authorization, tokens);
  }
}

/** The same, with further fields in each request; what tells who calls wins. */
export function addFixedHeaders(authorizer: Authorizer, headers: Readonly<Record<string, string>> | undefined): Authorizer {
  if (headers === undefined) return authorizer;
  const lowerCaseHeaders = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
  const originals = new WeakMap<Credentials, Credentials>();
  return {
    async getCredentials(signal) {
      const credentials = await authorizer.getCredentials(signal);
      const combined = { ...credentials, headers: { ...lowerCaseHeaders, ...credentials.headers } };
      originals.set(combined, credentials);
      return combined;
    },
    onRejected: (credentials) => authorizer.onRejected(originals.get(credentials) ?? credentials),
  };
}

function createFixed(credentials: Credentials): Authorizer {
  return { getCredentials: () => Promise.resolve(credentials), onRejected: () => false };
}

function createTokenAuthorizer(client: ClientCredentials, tokens: TokenCache): Authorizer {
  const issued = new WeakMap<Credentials, string>();
  return {
    async getCredentials(signal) {
      const token = await tokens.getToken(client, signal);
      const credentials = createHeader('authorization', `Bearer ${token}`);
      issued.set(credentials, token);
      return credentials;
    },
    onRejected(credentials) {
      const token = issued.get(credentials);
      if (token === undefined) return false;
      tokens.forget(client, token);
      return true;
    },
  };
}

function toApiKey({ key, name, location }: Extract<Authorization, { type: 'api_key' }>): Credentials {
  if (location === 'query') return { ...noCredentials, query: { [name]: key } };
  if (location === 'body') return { ...noCredentials, body: { [name]: key } };
  return createHeader(name.toLowerCase(), key);
}

function createHeader(name: string, value: string): Credentials {
  return { ...noCredentials, headers: { [name]: value } };
}

/** RFC 7617, in UTF-8. */
function toBasic(username: string, password: string): string {
  return `Basic ${Buffer.from(`${username}:${password}`, 'utf8').toString('base64')}`;
}
