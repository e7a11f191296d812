import { hash } from 'node:crypto';
import { madeByUsers, toStoredId } from '../deployments/application-place.ts';
import { bucketOfDeployment, publicBucket } from './bucket.ts';
import type { FilePlace } from './resource-place.ts';

const maxNameChars = 60;
const digestLength = 12;

/**
 * Returns the folder for an application's own files, independent of its user. `path` is empty for a whole bucket, otherwise it
 * ends with a slash.
 *
 * An application that a user saved has a folder in its owner's bucket. The owner's quota bounds it, and the owner lists and
 * deletes its files. A deployment of the configuration, or one that administrators published, has a bucket.
 */
export function getOwnFolder(deployment: string): FilePlace {
  const id = toStoredId(deployment);
  const [, maker = '', ...path] = id.startsWith(madeByUsers) ? id.split('/') : [];
  if (path.length === 0 || maker === publicBucket) return { bucket: bucketOfDeployment(deployment), path: '' };
  // One segment: the folder of `a` must not hold the folder of `a/b`.
  const name = [...(path.at(-1) ?? '')].slice(0, maxNameChars).join('');
  return { bucket: maker, path: `appfiles/${name}-${hash('sha256', id, 'hex').slice(0, digestLength)}/` };
}
