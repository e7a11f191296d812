import { expect, it } from 'vitest';
import { formatRoute, parseRoute, type Route } from './route.ts';

it.each<[string, Route]>([
  ['#/', { at: 'new' }],
  ['#/?with=a%2Fb', { at: 'new', deployment: 'a/b' }],
  ['#/temporary', { at: 'temporary' }],
  ['#/temporary?with=a%2Fb', { at: 'temporary', deployment: 'a/b' }],
  ['#/chat/1', { at: 'conversation', id: '1' }],
  ['#/consent', { at: 'consents' }],
  ['#/build', { at: 'applications' }],
  ['#/build/new', { at: 'applications', id: '' }],
  ['#/build/applications/b/a%20b', { at: 'applications', id: 'applications/b/a b' }],
  ['#/files', { at: 'files' }],
  ['#/files/a%20b/c', { at: 'files', folder: 'a b/c' }],
  ['#/files/a?file=b%20%26.txt', { at: 'files', folder: 'a', file: 'b &.txt' }],
  ['#/files?file=b', { at: 'files', file: 'b' }],
  ['#/usage', { at: 'usage' }],
  ['#/usage?scope=all', { at: 'usage', scope: 'all' }],
  ['#/operations', { at: 'operations' }],
  ['#/consent/applications/x%20y', { at: 'consent', deployment: 'applications/x y' }],
  ['#/consent/app?back=1', { at: 'consent', deployment: 'app', back: '1' }],
])('parses and formats %s', (hash, route) => {
  expect(parseRoute(hash)).toEqual(route);
  expect(formatRoute(route)).toBe(hash);
});

it('ignores the project of a link that also names a deployment, which could belong to another user', () => {
  expect(parseRoute('#/?with=a&project=home')).toEqual({ at: 'new', deployment: 'a' });
  expect(parseRoute('#/?project=home')).toEqual({ at: 'new', project: 'home' });
});

it.each(['', '#', '#key=parley-1'])('opens a new chat for %j', (hash) => {
  expect(parseRoute(hash)).toEqual({ at: 'new' });
});

it.each(['#/nowhere', '#/chat/', '#/chat/%E0%A4%A', '#/usage2'])(
  'opens a new chat with a notice for the unknown view %j',
  (hash) => {
    expect(parseRoute(hash)).toEqual({ at: 'new', missingTarget: 'view' });
  },
);

it('opens a new chat with a notice if a chat does not exist', () => {
  expect(parseRoute(formatRoute({ at: 'new', missingTarget: 'conversation' }))).toEqual({
    at: 'new',
    missingTarget: 'conversation',
  });
});
