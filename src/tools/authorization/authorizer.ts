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
