import type { Credentials } from './authorizer.ts';

/** Minimum length of a maskable secret. Shorter secrets occur in ordinary text. */
const minSecretLength = 4;

/** Returns the secret values of credentials, without the name of the scheme. */
export function listCredentialSecrets({ headers, query, body }: Credentials): string[] {
  const values = [headers, query, body].flatMap((fields) => Object.values(fields));
  return values.map((value) => value.replace(/^(Bearer|Basic) /, ''));
}

/** Masks secrets in a server's text, because servers may echo the request. */
export function maskSecrets(text: string, secrets: readonly string[]): string {
  const maskable = secrets.filter((secret) => secret.length >= minSecretLength);
  // The longest comes first, because it may contain another one.
  return maskable
    .toSorted((first, second) => second.length - first.length)
    .reduce(
      (masked, secret) => masked.replaceAll(secret, '***').replaceAll(encodeURIComponent(secret.toWellFormed()), '***'),
      text,
    );
}
