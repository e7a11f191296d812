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

/** Returns whether only Parley may give the subject. */
export function isReservedSubject(subject: string): boolean {
  return Object.values(subjectPrefixes).some((prefix) => subject.startsWith(prefix));
}
