import { expect, it } from 'vitest';
import { getPath, joinPath, stripPathPrefix, stripUrlPrefix } from './url-path.ts';

it.each([
  ['https://host', 'https://host/chat/completions'],
  ['https://host/', 'https://host/chat/completions'],
  ['https://host/v1', 'https://host/v1/chat/completions'],
  ['https://host/v1/', 'https://host/v1/chat/completions'],
  ['https://host/v1//', 'https://host/v1/chat/completions'],
  ['https://host/v1?key=a#part', 'https://host/v1/chat/completions?key=a#part'],
])('joinPath returns %s', (base, joined) => {
  expect(joinPath(new URL(base), 'chat/completions').href).toBe(joined);
});

it('joinPath does not change the base URL', () => {
  const base = new URL('https://host/v1');
  joinPath(base, 'models');
  expect(base.href).toBe('https://host/v1');
});

it.each([
  ['/addin', '/addin', ''],
  ['/addin', '/addin/v1?a=b', '/v1?a=b'],
  ['/addin', '/addin?a=b', '?a=b'],
  ['/addin', '/addins', undefined],
  ['/addin', '/add', undefined],
  ['/v1/files/', '/v1/files/b/a%2Fb?x', 'b/a%2Fb?x'],
  ['/v1/files/', '/v1/files', undefined],
  ['/v1/files/', 'http://host/v1/files/b', undefined],
])('stripUrlPrefix(%s, %s) returns %s', (prefix, url, rest) => {
  expect(stripUrlPrefix(prefix, url)).toBe(rest);
  expect(stripPathPrefix(prefix, url)).toBe((rest ?? '').split('?')[0]);
});

it('getPath removes the query of a URL', () => expect(getPath('/a?b=/c?d')).toBe('/a'));
