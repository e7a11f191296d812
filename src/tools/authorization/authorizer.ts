import { replaceText } from '#base/text/find-text.ts';
import type { Authorization, McpAuthorization } from '#contract/configuration/authorization.ts';
import type { ClientCredentials, TokenCache } from './token-cache.ts';

/** Parts of a request that authenticate it at a tool's server. They override everything else in the request. */
export interface Credentials {
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  readonly body: Readonly<Record<string, string>>;
}

export interface Authorizer {
  /** Rejects with `ToolError` if no token is available, or with the reason of the signal. */
  getCredentials(signal: AbortSignal): Promise<Credentials>;
  /** Called when a server returned 401. Returns whether a new call of `getCredentials` can return other credentials. */
  onRejected(credentials: Credentials): boolean;
}

export const noCredentials: Credentials = { headers: {}, query: {}, body: {} };

/**
 * Creates the authorizer for a tool's server (docs/quick-apps.md, Web APIs). Without an authorization, requests carry no
 * credentials.
 */
export function createAuthorizer(authorization: Authorization | null | undefined, tokens: TokenCache): Authorizer {
  switch (authorization?.type) {
    case undefined:
      return createFixedAuthorizer(noCredentials);
    case 'api_key':
      return createFixedAuthorizer(createKeyCredentials(authorization));
    case 'basic':
      return createFixedAuthorizer(
        createHeaderCredentials('authorization', toBasic(authorization.username, authorization.password)),
      );
    case 'bearer':
      return createFixedAuthorizer(createBearerCredentials(authorization.token));
    case 'client_id_secret':
      return createTokenAuthorizer(authorization, tokens);
  }
}

/** Adds further headers to each request. Headers of the authorizer override them. */
export function addFixedHeaders(authorizer: Authorizer, headers: Readonly<Record<string, string>> | undefined): Authorizer {
  if (headers === undefined) return authorizer;
  const lowerCaseHeaders = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
  return {
    ...authorizer,
    async getCredentials(signal) {
      const credentials = await authorizer.getCredentials(signal);
      return { ...credentials, headers: { ...lowerCaseHeaders, ...credentials.headers } };
    },
  };
}

function createFixedAuthorizer(credentials: Credentials): Authorizer {
  return { getCredentials: () => Promise.resolve(credentials), onRejected: () => false };
}

function createTokenAuthorizer(client: ClientCredentials, tokens: TokenCache): Authorizer {
  return {
    getCredentials: async (signal) => createBearerCredentials(await tokens.getToken(client, signal)),
    onRejected({ headers: { authorization } }) {
      if (authorization === undefined) return false;
      tokens.delete(client, authorization.slice(bearerPrefix.length));
      return true;
    },
  };
}

const bearerPrefix = 'Bearer ';

function createBearerCredentials(token: string): Credentials {
  return createHeaderCredentials('authorization', bearerPrefix + token);
}

function createKeyCredentials({ key, name, location }: Extract<Authorization, { type: 'api_key' }>): Credentials {
  if (location === 'query') return { ...noCredentials, query: { [name]: key } };
  if (location === 'body') return { ...noCredentials, body: { [name]: key } };
  return createHeaderCredentials(name.toLowerCase(), key);
}

function createHeaderCredentials(name: string, value: string): Credentials {
  return { ...noCredentials, headers: { [name]: value } };
}

/** Encodes Basic credentials as UTF-8 (RFC 7617). */
function toBasic(username: string, password: string): string {
  return `Basic ${Buffer.from(`${username}:${password}`, 'utf8').toString('base64')}`;
}

/** Minimum length of a maskable secret. Shorter secrets occur in ordinary text. */
const minSecretLength = 4;

/** Returns the secret of an authorization setting. The result is empty if there is no authorization. */
export function listAuthorizationSecrets(authorization: Authorization | McpAuthorization | null | undefined): string[] {
  switch (authorization?.type) {
    case undefined:
      return [];
    case 'api_key':
      return [authorization.key];
    case 'basic':
      return [authorization.password];
    case 'bearer':
      return [authorization.token];
    case 'client_id_secret':
      return [authorization.client_secret];
  }
}

/** Returns the secret values of credentials, without the name of the scheme. */
export function listCredentialSecrets({ headers, query, body }: Credentials): string[] {
  const values = [headers, query, body].flatMap((fields) => Object.values(fields));
  return values.map((value) => value.replace(/^(Bearer|Basic) /, ''));
}

/** Masks secrets in a server's text, because servers may echo the request. */
export function maskSecrets(text: string, secrets: readonly string[]): string {
  const maskable = secrets.filter((secret) => secret.length >= minSecretLength);
  const spellings = new Set(maskable.flatMap((secret) => [secret, encodeURIComponent(secret.toWellFormed())]));
  // The longest comes first, because it may contain another one.
  return [...spellings]
    .toSorted((first, second) => second.length - first.length)
    .reduce((masked, spelling) => replaceText(masked, spelling, '***'), text);
}
