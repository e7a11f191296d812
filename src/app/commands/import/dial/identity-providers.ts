import type { JsonObject } from '#base/json/json.ts';
import { trimEnd } from '#base/text/truncate.ts';
import type { ForeignObject } from '../foreign-object.ts';
import type { ImportContext } from '../result.ts';

const dropReasons = {
  loggingKey: null,
  loggingSalt: null,
  obfuscateUserEmail: null,
  positiveCacheExpirationMs: null,
  negativeCacheExpirationMs: null,
  userDisplayName: 'the name comes from the claim `name`',
  projectPath: 'set `projectClaim` to the claim with the project',
};

/** Imports the identity providers of the static settings. Providers whose tokens DIAL does not verify are left out. */
export function importIdentityProviders(settings: ForeignObject, context: ImportContext): void {
  for (const [name, provider] of settings.namedObjects('identityProviders')) {
    const reason = getOmissionReason(provider);
    const entry = reason === undefined ? toEntry(provider, context) : undefined;
    if (entry === undefined)
      context.notes.addLoss(
        provider.path,
        `is left out: ${reason ?? 'its issuer is unknown, so write `issuer`, the `iss` claim of its tokens'}`,
      );
    else context.result.put('identityProviders', name, provider.path, entry);
  }
}

function getOmissionReason(provider: ForeignObject): string | undefined {
  if (provider.flag('disableJwtVerification')) return 'its tokens are not verified, so anyone can forge them';
  if (provider.value('userInfoEndpoint') !== undefined) return 'its tokens are opaque, which requires `introspection` (RFC 7662)';
  return undefined;
}

function toEntry(provider: ForeignObject, { notes, variables }: ImportContext): JsonObject | undefined {
  const jwksUrl = provider.text('jwksUrl');
  const issuer = toIssuer(provider.text('issuerPattern'), jwksUrl);
  if (issuer === undefined) return undefined;
  if (issuer.isGuess)
    notes.addLoss(
      provider.at('issuerPattern'),
      'is a pattern, and the issuer in the result is guessed from jwksUrl',
      'check that it exactly equals the `iss` claim of a token',
    );
  const audience = provider.text('audience');
  const userIdClaim = provider.text('userIdPath');
  const rolesClaim = toRolesClaim(provider, notes);
  const delimiter = provider.value('rolesDelimiter');
  if (delimiter !== undefined && delimiter !== ' ')
    notes.addLoss(provider.at('rolesDelimiter'), 'is not imported: Parley separates roles in one text by spaces');
  provider.reportUnread(dropReasons, 'an identity provider of DIAL');
  return {
    issuer: issuer.url,
    ...(jwksUrl !== undefined && { jwksUrl: variables.convertReferences(jwksUrl) }),
    ...(audience !== undefined && { audience: variables.convertReferences(audience) }),
    ...(userIdClaim !== undefined && { userIdClaim }),
    ...(rolesClaim !== undefined && { rolesClaim }),
  };
}

function toRolesClaim(provider: ForeignObject, notes: ImportContext['notes']): string | undefined {
  const path = provider.value('rolePath');
  const [first, ...otherClaims] = Array.isArray(path) ? path : [path];
  const isFunction = typeof first === 'string' && first.startsWith('fn:');
  if (otherClaims.length > 0) notes.addLoss(provider.at('rolePath'), 'is imported only for its first claim');
  if (isFunction)
    notes.addLoss(provider.at('rolePath'), 'is not imported: Parley reads roles from a claim of the token and calls no function');
  return typeof first === 'string' && first !== '' && !isFunction ? first : undefined;
}

interface Issuer {
  readonly url: string;
  readonly isGuess: boolean;
}

/** Returns the issuer from a pattern that matches a single URL, or guesses it from the URL of the keys. */
function toIssuer(pattern: string | undefined, jwksUrl: string | undefined): Issuer | undefined {
  const plain = pattern?.replace(/^\^/, '').replace(/\$$/, '');
  const isLiteral = plain !== undefined && !/(?<!\\)[.*+?()[\]{}|^$]|\\[a-zA-Z0-9]/.test(plain);
  const isAnchored = pattern?.endsWith('$') === true;
  if (isLiteral && isAnchored) return { url: plain.replaceAll(/\\(.)/g, '$1'), isGuess: false };
  const guesses = keyUrlLayouts.flatMap(([layout, toIssuerUrl]) => {
    const match = layout.exec(jwksUrl ?? '');
    return match === null ? [] : [toIssuerUrl(match)];
  });
  return guesses[0] === undefined ? undefined : { url: guesses[0], isGuess: true };
}

/** Layouts of the key URLs of well-known providers, with their issuers. */
const keyUrlLayouts: readonly (readonly [RegExp, (match: RegExpExecArray) => string])[] = [
  [/^(.+)\/protocol\/openid-connect\/certs$/, ([, realm = '']) => realm],
  [/^(https:\/\/[^/]+\.auth0\.com\/)\.well-known\/jwks\.json$/, ([, tenant = '']) => tenant],
  [
    /^https:\/\/login\.microsoftonline\.com\/([^/]+)\/discovery\/v2\.0\/keys$/,
    ([, tenant]) => `https://login.microsoftonline.com/${tenant}/v2.0`,
  ],
  [/^https:\/\/login\.microsoftonline\.com\/([^/]+)\/discovery\/keys$/, ([, tenant]) => `https://sts.windows.net/${tenant}/`],
  [/^https:\/\/www\.googleapis\.com\/oauth2\/v\d\/certs$/, () => 'https://accounts.google.com'],
  [/^(.+)\/v1\/keys$/, ([, server = '']) => server],
  [/^(.+)\/\.well-known\/jwks\.json$/, ([, server = '']) => trimEnd(server, '/')],
];
