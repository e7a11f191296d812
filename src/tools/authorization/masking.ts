import type { Credentials } from './authorizer.ts';

/** Shorter ones are found in anything. */
const shortestSecret = 4;

/** What of credentials nobody is shown: their values, without the name of the scheme. */
export function secretsIn({ headers, query, body }: Credentials): string[] {
  const values = [headers, query, body].flatMap((fields) => Object.values(fields));
  return values.map((value) => value.replace(/^(Bearer|Basic) /, ''));
}

/** A text of a server, which may say back what it was sent, without these secrets. */
export function withoutSecrets(text: string, secrets: readonly string[]): string {
  const known = secrets.filter((secret) => secret.length >= shortestSecret);
  return known.reduce((masked, secret) => masked.replaceAll(secret, '***').replaceAll(encodeURIComponent(secret), '***'), text);
}
