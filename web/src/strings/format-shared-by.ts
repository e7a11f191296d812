import type { Deployment } from '../service/deployments.ts';
import type { Strings } from './english.ts';

const visibleOwnerChars = 8;

/** Describes the owner and the ID of a deployment that another user shared. '' for all others. */
export function formatSharedBy({ maker, id }: Pick<Deployment, 'maker' | 'id'>, strings: Strings): string {
  if (maker !== 'other') return '';
  const [, owner = '', ...path] = id.split('/');
  return strings.sharedBy(owner.slice(0, visibleOwnerChars), path.join('/'));
}
