import { isJsonObject, tryParseJson } from '#base/json/json.ts';
import { getTraits } from './protocols.ts';
import { isHeaderValue, isHttpUrl } from './values.ts';

const googleTokenUri = 'https://oauth2.googleapis.com/token';

/** The parsed `key` of an upstream, depending on its protocol. */
export type UpstreamKey =
  | { readonly kind: 'token'; readonly token: string }
  /** AWS credentials for signed requests. */
  | {
      readonly kind: 'signing';
      readonly accessKeyId: string;
      readonly secretAccessKey: string;
      readonly sessionToken: string | undefined;
    }
  /** A Google Cloud service account. */
  | {
      readonly kind: 'account';
      readonly clientEmail: string;
      readonly privateKey: string;
      readonly projectId: string;
      /** URL that issues its tokens. */
      readonly tokenUri: string;
    };

interface KeyError {
  /** Error message, without the key. */
  readonly error: string;
}

/** Parses the `key` of an upstream. Some protocols support other forms than a token for a header field. */
export function readUpstreamKey(protocol: unknown, key: string): UpstreamKey | KeyError {
  const { structuredKeyKind } = getTraits(protocol);
  if (structuredKeyKind === 'signing' && key.includes(':')) return readSigningKey(key);
  if (structuredKeyKind === 'account' && key.trimStart().startsWith('{')) return readAccount(key);
  if (isHeaderValue(key)) return { kind: 'token', token: key };
  return { error: 'must not contain a line break or another character that is invalid in a header field' };
}

/** Returns the secret parts of a key. */
export function listKeySecrets(key: UpstreamKey): readonly string[] {
  switch (key.kind) {
    case 'token':
      return [key.token];
    case 'signing':
      return [key.secretAccessKey, ...(key.sessionToken === undefined ? [] : [key.sessionToken])];
    case 'account':
      return [key.privateKey];
  }
}

function readSigningKey(key: string): UpstreamKey | KeyError {
  const [accessKeyId = '', secretAccessKey = '', sessionToken, ...extraParts] = key.split(':');
  const parts = [accessKeyId, secretAccessKey, sessionToken ?? 'none'];
  if (extraParts.length > 0 || !parts.every((part) => /^\S+$/.test(part) && isHeaderValue(part)))
    return { error: 'must be a Bedrock API key, or accessKeyId:secretAccessKey, or accessKeyId:secretAccessKey:sessionToken' };
  return { kind: 'signing', accessKeyId, secretAccessKey, sessionToken };
}

function readAccount(key: string): UpstreamKey | KeyError {
  const account = tryParseJson(key);
  if (!isJsonObject(account))
    return { error: 'is not valid JSON, although it starts like a service account. Quote the complete file as one string' };
  const { client_email: clientEmail, private_key: privateKey, project_id: projectId, token_uri: rawTokenUri } = account;
  for (const [name, value] of Object.entries({ client_email: clientEmail, private_key: privateKey, project_id: projectId }))
    if (typeof value !== 'string' || value === '') return { error: `is the JSON of a service account without ${name}` };
  if (!String(privateKey).includes('PRIVATE KEY'))
    return { error: 'is the JSON of a service account whose private_key is not PEM text' };
  const tokenUri = typeof rawTokenUri === 'string' && isHttpUrl(rawTokenUri) ? rawTokenUri : googleTokenUri;
  return {
    kind: 'account',
    clientEmail: String(clientEmail),
    privateKey: String(privateKey),
    projectId: String(projectId),
    tokenUri,
  };
}
