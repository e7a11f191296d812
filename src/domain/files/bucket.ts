import { hash } from 'node:crypto';

const length = 32;

/** Of the documents of the sample app, which are public: they ship with the product. No user's: names of theirs have no such character. */
export const sampleBucket = '~sample';

/**
 * The bucket of a user subject: the same on every node and after every restart, whatever secrets change. It is a name, not
 * a right: who knows a bucket can do nothing with it.
 */
export function bucketOf(subject: string): string {
  return hash('sha256', `parley bucket of ${subject}`, 'base64url').slice(0, length);
}
