import { expect, it } from 'vitest';
import type { Deployment } from '../../service/deployments.ts';
import { toFamilies } from './deployment-choice.tsx';

const one = (id: string, name: string, more: Partial<Deployment> = {}): Deployment =>
  ({ id, name, version: undefined, owner: 'operator', ...more }) as Deployment;

const all = [
  one('large-9', 'Large', { version: '9' }),
  one('small', 'Small'),
  one('large-10', 'Large', { version: '10' }),
  one('small-too', 'Small'),
  one('theirs', 'Large', { version: '1', owner: 'other' }),
];
const ids = (chosen?: string) => toFamilies(all, chosen).map((family) => family.map(({ id }) => id).join(' '));

it('groups versions of the same name, the selected or the latest one first', () => {
  expect(ids()).toEqual(['large-10 large-9', 'small', 'small-too', 'theirs']);
  expect(ids('large-9')).toEqual(['large-9 large-10', 'small', 'small-too', 'theirs']);
});
