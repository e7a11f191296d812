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
  credentials(signal: AbortSignal): Promise<Credentials>;
  /** To be told when a server answered 401; gives whether other credentials may be had by asking again. */
  refused(credentials: Credentials): boolean;
}

export const noCredentials: Credentials = { headers: {}, query: {}, body: {} };

/** How the server of a tool is told who calls (docs/wire.md, Quick apps); without an authorization it is told nothing. */
export function createAuthorizer(authorization: Authorization | null | undefined, tokens: TokenCache): Authorizer {
  switch (authorization?.type) {
    case undefined:
      return fixed(noCredentials);
    case 'api_key':
      return fixed(toApiKey(authorization));
    case 'basic':
      return fixed(header('authorization', toBasic(authorization.username, authorization.password)));
    case 'bearer':
      return fixed(header('authorization', `Bearer ${authorization.token}`));
    case 'client_id_secret':
      return withToken(authorization, tokens);
  }
}

/** The same, with further fields in each request; what tells who calls wins. */
export function withFixedHeaders(authorizer: Authorizer, headers: Readonly<Record<string, string>> | undefined): Authorizer {
  if (headers === undefined) return authorizer;
  const lower = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
  const known = new WeakMap<Credentials, Credentials>();
  return {
    async credentials(signal) {
      const credentials = await authorizer.credentials(signal);
      const all = { ...credentials, headers: { ...lower, ...credentials.headers } };
      known.set(all, credentials);
      return all;
    },
    refused: (credentials) => authorizer.refused(known.get(credentials) ?? credentials),
  };
}

function fixed(credentials: Credentials): Authorizer {
  return { credentials: () => Promise.resolve(credentials), refused: () => false };
}

function withToken(client: ClientCredentials, tokens: TokenCache): Authorizer {
  const issued = new WeakMap<Credentials, string>();
  return {
    async credentials(signal) {
      const token = await tokens.token(client, signal);
      const credentials = header('authorization', `Bearer ${token}`);
      issued.set(credentials, token);
      return credentials;
    },
    refused(credentials) {
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
  return header(name.toLowerCase(), key);
}

function header(name: string, value: string): Credentials {
  return { ...noCredentials, headers: { [name]: value } };
}

/** RFC 7617, in UTF-8. */
function toBasic(username: string, password: string): string {
  return `Basic ${Buffer.from(`${username}:${password}`, 'utf8').toString('base64')}`;
}
