import { toBucket, toDeploymentBucket } from '#domain/files/bucket.ts';

/** Returns the bucket of a user subject, such as `key:test` for a key of the project `test`. */
export function getBucket(subject: string): string {
  return toBucket(subject);
}

/** Returns the bucket for the files of a deployment. */
export function getDeploymentBucket(id: string): string {
  return toDeploymentBucket(id);
}
