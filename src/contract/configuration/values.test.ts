import { describe, expect, it } from 'vitest';
import { isApiVersion } from '../api-version.ts';
import { formatPath } from './issue.ts';
import { isHeaderName, isHeaderValue, isHostName, isHttpUrl, isNetwork, isPathPrefix, isWithoutUser } from './values.ts';

/** Returns the values that match a predicate. */
const filterValues = (predicate: (value: string) => boolean, values: readonly string[]) => values.filter(predicate);

describe('values', () => {
  it('accepts URLs in isHttpUrl', () => {
    const good = ['http://x', 'HTTPS://x.example:8443/v1?a=b', 'http://[::1]:80'];
    expect(
      filterValues(isHttpUrl, [
        ...good,
        '',
        'x',
        'http:',
        'http://',
        'http://:80',
        'ftp://x',
        'file:///x',
        'javascript:http://x',
        '//x',
        'http://x:99999',
      ]),
    ).toEqual(good);
  });

  it('accepts URLs without a user in isWithoutUser', () => {
    const good = ['http://x/a@b', 'https://x.example/?u=a:b@c', 'http://{host}/x', 'no address'];
    expect(filterValues(isWithoutUser, [...good, 'http://user@x', 'http://user:pw@x/', 'http://:pw@x'])).toEqual(good);
  });

  it('accepts API versions in isApiVersion', () => {
    const good = ['2024-10-21', '2024-02-29', '2024-08-01-preview'];
    const bad = [
      '',
      '2023-02-29',
      '2024-13-01',
      '2024-00-10',
      '2024-1-1',
      '2024-10-21-Preview',
      '2024-10-21 ',
      '20241021',
      '٢٠٢٤-10-21',
      'latest',
    ];
    expect(filterValues(isApiVersion, [...good, ...bad])).toEqual(good);
  });

  it('accepts networks in isNetwork', () => {
    const good = ['10.0.0.0/8', '10.0.0.1', '0.0.0.0/0', '::1', 'fd00::/8', '::ffff:10.0.0.1/128'];
    const bad = [
      '',
      '10.0.0.0/33',
      '10.0.0.0/',
      '10.0.0/8',
      '10.0.0.0/8/8',
      '10.0.0.0/-1',
      '010.0.0.1',
      'fd00::/129',
      '/8',
      'host',
      '1',
      '300.1.1.1',
    ];
    expect(filterValues(isNetwork, [...good, ...bad])).toEqual(good);
  });

  it('accepts host names in isHostName', () => {
    const good = ['localhost', 'gpu-1.internal', 'my_host', 'xn--bcher-kva.example'];
    expect(
      filterValues(isHostName, [
        ...good,
        '',
        '10.0.0',
        '1',
        '-a',
        'a-',
        'a..b',
        'a.',
        'http://a',
        'a:80',
        'a/b',
        '*.a',
        'a'.repeat(64),
      ]),
    ).toEqual(good);
  });

  it('accepts names and values of header fields in isHeaderName and isHeaderValue', () => {
    expect(filterValues(isHeaderName, ['X-Team', 'a', "!#$%&'*+.^_`|~", '', 'a b', 'a:', 'é', 'a\n'])).toEqual([
      'X-Team',
      'a',
      "!#$%&'*+.^_`|~",
    ]);
    expect(filterValues(isHeaderValue, ['', 'a b\tc', 'é', 'a\n', 'a\r', 'a\0', '\u007f', '€'])).toEqual(['', 'a b\tc', 'é']);
  });

  it('accepts path prefixes in isPathPrefix', () => {
    expect(
      filterValues(isPathPrefix, ['openai', 'a/b-c', 'v1.0~x', '', '/a', 'a/', 'a//b', '.', 'a/..', 'a b', 'a%20', 'é']),
    ).toEqual(['openai', 'a/b-c', 'v1.0~x']);
  });
});

describe('formatPath', () => {
  it.each([
    [[], ''],
    [['models', 'gpt-4', 'upstreams', 0, 'endpoint'], 'models.gpt-4.upstreams[0].endpoint'],
    [['models', 'a.b', 'x'], 'models["a.b"].x'],
    [['models', 'a"b\n'], 'models["a\\"b\\n"]'],
    [['$schema'], '$schema'],
    [['models', '__proto__', ''], 'models.__proto__[""]'],
    [['a b'], '["a b"]'],
    [['models', '4o'], 'models["4o"]'],
  ])('formats %j as %s', (path, text) => {
    expect(formatPath(path)).toBe(text);
  });
});
