import type { Deployment } from '../service/deployments.ts';
import type { Strings } from './english.ts';

const visibleOwnerChars = 8;

/** Who shared what another user saved, and what tells it from others of its name; '' for everything else. */
export function formatSharedBy({ maker, id }: Pick<Deployment, 'maker' | 'id'>, strings: Strings): string {
  if (maker !== 'other') return '';
  const [, owner = '', ...path] = id.split('/');
  return strings.sharedBy(owner.slice(0, visibleOwnerChars), path.join('/'));
}
