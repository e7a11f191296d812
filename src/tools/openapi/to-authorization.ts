import type { JsonObject } from '#base/json.ts';
import type { Authorization } from '#contract/configuration/authorization.ts';
import { objectOf, textOf, wordOf } from './loose.ts';

/** A security scheme that an operation asks for. */
export interface AskedScheme {
  /** As the document names it. */
  readonly name: string;
  /** Security scheme object of OpenAPI 3.1. */
  readonly scheme: JsonObject;
  readonly scopes: readonly string[];
}

/** How a quick app tells an API who calls; undefined for what its form has no words for. Secrets are `${NAME}`, to be put in by the reader. */
export function toAuthorization({ name, scheme, scopes }: AskedScheme, title: string): Authorization | undefined {
  const secret = (what: string): string => `\${${toVariable(`${title} ${name} ${what}`)}}`;
  const kind = `${wordOf(scheme.type)} ${scheme.type === 'http' ? wordOf(scheme.scheme)?.toLowerCase() : ''}`.trim();
  switch (kind) {
    case 'apiKey':
      return toApiKey(scheme, secret('key'));
    case 'http basic':
      return { type: 'basic', username: secret('username'), password: secret('password') };
    case 'oauth2':
      return toClientCredentials(scheme, scopes, secret) ?? { type: 'bearer', token: secret('token') };
    case 'http bearer':
    case 'openIdConnect':
      return { type: 'bearer', token: secret('token') };
    default:
      return undefined;
  }
}

function toApiKey(scheme: JsonObject, key: string): Authorization | undefined {
  const name = textOf(scheme.name);
  const location = scheme.in;
  return name !== undefined && (location === 'header' || location === 'query')
    ? { type: 'api_key', key, name, location }
    : undefined;
}

function toClientCredentials(
  scheme: JsonObject,
  scopes: readonly string[],
  secret: (what: string) => string,
): Authorization | undefined {
  const token_url = textOf(objectOf(objectOf(scheme.flows).clientCredentials).tokenUrl);
  if (token_url === undefined || !/^https?:/i.test(token_url) || !URL.canParse(token_url)) return undefined;
  return {
    type: 'client_id_secret',
    client_id: secret('client id'),
    client_secret: secret('client secret'),
    token_url,
    ...(scopes.length > 0 && { scope: scopes.join(' ') }),
  };
}

/** `My API bearerAuth token` as environment variables are called: MY_API_BEARER_AUTH_TOKEN. */
function toVariable(words: string): string {
  const apart = words.replace(/([a-z0-9])([A-Z])/g, '$1_$2');
  const name = apart
    .replace(/[^a-zA-Z0-9]+/g, '_')
    .replace(/^_|_$/g, '')
    .toUpperCase();
  const once = name.replace(/_([A-Z]+)_\1$/, '_$1');
  return /^\d/.test(once) ? `_${once}` : once;
}
