import { hash } from 'node:crypto';

const nameLength = 32;
/** Prefix of IDs of another kind that occur in place of bucket names. */
const conversationPrefix = 'conv_';

/**
 * Bucket of the sample application's documents, which are public and part of the distribution. Names of user buckets do not
 * contain `~`.
 */
export const sampleBucket = '~sample';
/** Bucket of published resources that all callers can read and list. Names of user buckets are longer. */
export const publicBucket = 'public';

/**
 * Returns the bucket of a user subject. It is the same on every node, after every restart, and with any secrets. Knowledge of a
 * bucket name gives no access.
 */
export function toBucket(subject: string): string {
  return toName(`parley bucket of ${subject}`);
}

/** Returns the bucket of a deployment. All callers share it. It is never the bucket of a user. */
export function toDeploymentBucket(id: string): string {
  return toName(`parley bucket, a deployment's: ${id}`);
}

/** Returns the folder, in a user's bucket, in which a deployment stores data for the user. */
export function getAppDataPath(deployment: string): string {
  return `appdata/${deployment}`;
}

function toName(text: string): string {
  const name = hash('sha256', text, 'base64url').slice(0, nameLength);
  return name.startsWith(conversationPrefix) ? toName(`once more: ${text}`) : name;
}
