import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { Secret } from '#base/secrets/secret.ts';
import { parseRedisAddress, RedisAddressError } from './redis-address.ts';

const toHost = (host: string, port = 6379) => ({ kind: 'server', hosts: [{ host, port }], db: 0 });
const local = toHost('127.0.0.1');
const hosts = [
  { host: 'one', port: 7000 },
  { host: 'two', port: 6379 },
];
const sentinels = [
  { host: 'one', port: 26_379 },
  { host: 'two', port: 7000 },
];
const parley = { username: 'parley', password: 'word' };

describe('parseRedisAddress', () => {
  it.each([
    ['redis://127.0.0.1', local],
    ['valkey://127.0.0.1:6379/', local],
    ['redis://127.0.0.1/3', { ...local, db: 3 }],
    ['redis://[::1]:7000', toHost('::1', 7000)],
    ['redis://cache.example.org:7000', toHost('cache.example.org', 7000)],
    ['redis://:p%40ss%2Fword@127.0.0.1', { ...local, password: 'p@ss/word' }],
    ['redis://parley:word@127.0.0.1', { ...local, ...parley }],
    ['rediss://cache.example.org', { ...toHost('cache.example.org'), tls: {} }],
    ['valkeys://127.0.0.1', { ...local, tls: {} }],
    ['redis-cluster://one:7000', { kind: 'cluster', hosts: hosts.slice(0, 1), db: 0 }],
    ['redis-cluster://one:7000,two', { kind: 'cluster', hosts, db: 0 }],
    ['redis://parley:word@one:7000,two/', { kind: 'cluster', hosts, db: 0, ...parley }],
    ['valkeys-cluster://one:7000,two', { kind: 'cluster', hosts, db: 0, tls: {} }],
    ['redis-sentinel://one,two:7000/2?name=main', { kind: 'sentinel', hosts: sentinels, db: 2, sentinel: { name: 'main' } }],
    [
      'rediss-sentinel://parley:word@one,two:7000?name=main&sentinel_user=a&sentinel_password=b',
      {
        ...{ kind: 'sentinel', hosts: sentinels, db: 0, ...parley, tls: {} },
        sentinel: { name: 'main', username: 'a', password: 'b' },
      },
    ],
  ])('parses %s', (address, options) => {
    expect(parseRedisAddress(new Secret(address))).toEqual(options);
  });

  it('reads the file of the CA', () => {
    const file = fileURLToPath(new URL('../../../test/http/fixtures/server-cert.pem', import.meta.url));
    const { tls } = parseRedisAddress(new Secret(`rediss://one?cacert=${file}`));
    expect(tls?.ca).toContain('BEGIN CERTIFICATE');
    expect(() => parseRedisAddress(new Secret('rediss://one?cacert=/canary.pem'))).toThrow(
      'names a file in cacert that cannot be read (ENOENT). Check its path and permissions',
    );
  });

  it.each([
    '',
    'canary',
    'localhost:6379',
    'http://canary@localhost',
    'redis:///1',
    'redis://',
    'redis://:canary@host:99999',
    'redis://:canary@host/one',
    'redis://:canary@host/1/2',
    'redis://:canary@host/1?family=6',
    'redis://:canary@host?cacert=/canary',
    'redis://:canary@host?name=main',
    'redis://:canary@host#1',
    'redis://:canary%zz@host',
    'redis://:canary@one,,two',
    'redis://:canary@one/1,two',
    'redis-cluster://:canary@one,two/1',
    'redis-sentinel://:canary@host',
    `redis-cluster://${Array(200).fill('canary').join(',')}`,
    'unix:///canary.sock',
  ])('rejects %s without quoting it', (address) => {
    const read = (): unknown => parseRedisAddress(new Secret(address));
    expect(read).toThrow(RedisAddressError);
    expect(read).not.toThrow(/canary/);
  });
});
