import type { Credentials } from './authorizer.ts';

/** Shorter ones are found in anything. */
const minSecretLength = 4;

/** What of credentials nobody is shown: their values, without the name of the scheme. */
export function listCredentialSecrets({ headers, query, body }: Credentials): string[] {
  const values = [headers, query, body].flatMap((fields) => Object.values(fields));
  return values.map((value) => value.replace(/^(Bearer|Basic) /, ''));
}

/** A text of a server, which may say back what it was sent, without these secrets. */
export function maskSecrets(text: string, secrets: readonly string[]): string {
  const maskable = secrets.filter((secret) => secret.length >= minSecretLength);
  return maskable.reduce(
    (masked, secret) => masked.replaceAll(secret, '***').replaceAll(encodeURIComponent(secret), '***'),
    text,
  );
}
