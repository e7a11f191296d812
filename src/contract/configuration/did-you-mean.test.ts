import { expect, it } from 'vitest';
import { findNearest } from './did-you-mean.ts';

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
])('findNearest returns the closest known key for case %#', (word, meant) => {
  expect(findNearest(word, keys)).toBe(meant);
});

it('findNearest returns the first key if several are equally close', () => {
  expect(findNearest('cat', ['bat', 'rat'])).toBe('bat');
  expect(findNearest('cat', [])).toBeUndefined();
});
