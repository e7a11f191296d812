import { expect, it } from 'vitest';
import { nearest } from './nearest.ts';

const keys = ['displayName', 'displayVersion', 'description', 'iconUrl', 'type', 'url', 'maxBodyBytes', 'roles', 'role'];

it.each([
  ['displayname', 'displayName'],
  ['display_name', 'displayName'],
  ['DISPLAY-NAME', 'displayName'],
  ['dispalyName', 'displayName'],
  ['desription', 'description'],
  ['typ', 'type'],
  ['tpye', 'type'],
  ['roels', 'roles'],
  ['rloe', 'role'],
  ['uri', 'url'],
  ['maxBodyByte', 'maxBodyBytes'],
  ['rols', 'roles'],
  ['role', 'role'],
  ['', undefined],
  ['zz', undefined],
  ['completelyDifferent', undefined],
  ['x'.repeat(1_000_000), undefined],
])('nearest returns the closest known key for case %#', (word, meant) => {
  expect(nearest(word, keys)).toBe(meant);
});

it('nearest returns the first of several equally close keys', () => {
  expect(nearest('cat', ['bat', 'rat'])).toBe('bat');
  expect(nearest('cat', [])).toBeUndefined();
});
