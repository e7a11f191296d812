/**
 * Prefixes of subjects that only Parley assigns. If the claim of a token has such a prefix, Parley adds the prefix of its
 * provider.
 */
export const subjectPrefixes = {
  /** Prefix for a key: `key:<project>`. */
  key: 'key:',
  /** Prefix for a user whose claim alone would not be unique: `jwt:<provider>:<claim>`. */
  token: 'jwt:',
  /** Prefix for Parley itself, for calls without a caller. */
  service: 'parley:',
} as const;

/** Returns the subject of a user of an identity provider. Claims of the first provider get a prefix only if they are reserved. */
export function toTokenSubject({ name, isFirst }: { readonly name: string; readonly isFirst: boolean }, claim: string): string {
  return isFirst && !isReservedSubject(claim) ? claim : `${toProviderPrefix(name)}${claim}`;
}

/** Returns the name of the provider whose tokens have this subject. `names` lists the configured providers in order. */
export function findProviderName(subject: string, names: readonly string[]): string | undefined {
  if (!subject.startsWith(subjectPrefixes.token)) return names[0];
  return names.find((name) => subject.startsWith(toProviderPrefix(name)));
}

function toProviderPrefix(name: string): string {
  return `${subjectPrefixes.token}${name.replace(/[%:]/g, encodeURIComponent)}:`;
}

/** Returns whether the subject starts with a prefix that only Parley assigns. */
function isReservedSubject(subject: string): boolean {
  return Object.values(subjectPrefixes).some((prefix) => subject.startsWith(prefix));
}
