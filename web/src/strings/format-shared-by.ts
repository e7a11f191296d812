import type { Strings } from '../locales/en/page.ts';
import type { Deployment } from '../service/deployments.ts';

const visibleOwnerChars = 8;

/** Describes the owner and the ID of a deployment that another user shared. '' for all others. */
export function formatSharedBy({ owner, id }: Pick<Deployment, 'owner' | 'id'>, strings: Strings): string {
  if (owner !== 'other') return '';
  const [, bucket = '', ...path] = id.split('/');
  return strings.sharedBy(bucket.slice(0, visibleOwnerChars), path.join('/'));
}
