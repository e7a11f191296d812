import type { Deployment } from '../service/deployments.ts';
import type { Words } from './english.ts';

const shownChars = 8;

/** Who shared what another user saved, and what tells it from others of its name; '' for everything else. */
export function sharedBy({ maker, id }: Pick<Deployment, 'maker' | 'id'>, words: Words): string {
  if (maker !== 'other') return '';
  const [, owner = '', ...path] = id.split('/');
  return words.sharedBy(owner.slice(0, shownChars), path.join('/'));
}
