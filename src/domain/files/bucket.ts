import { hash } from 'node:crypto';

const nameLength = 32;
/** How ids of another kind begin that stand where buckets do. */
const conversationPrefix = 'conv_';

/** Of the documents of the sample app, which are public: they ship with the product. No user's: names of theirs have no such character. */
export const sampleBucket = '~sample';
/** What is published to everybody: all callers read and list it. No user's: it is shorter than names of theirs. */
export const publicBucket = 'public';

/**
 * The bucket of a user subject: the same on every node and after every restart, whatever secrets change. It is a name, not
 * a right: who knows a bucket can do nothing with it.
 */
export function toBucket(subject: string): string {
  return toName(`parley bucket of ${subject}`);
}

/** The bucket of a deployment, whoever calls it; no user's. */
export function toDeploymentBucket(id: string): string {
  return toName(`parley bucket, a deployment's: ${id}`);
}

/** Where a deployment keeps what it keeps for a user: below it in the user's bucket. */
export function getAppDataPath(deployment: string): string {
  return `appdata/${deployment}`;
}

function toName(text: string): string {
  const name = hash('sha256', text, 'base64url').slice(0, nameLength);
  return name.startsWith(conversationPrefix) ? toName(`once more: ${text}`) : name;
}
