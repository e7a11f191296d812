import { describe, expect, it } from 'vitest';
import { Secret } from '#base/secrets/secret.ts';
import { parseRedisAddress, RedisAddressError } from './redis-address.ts';

const local = { host: '127.0.0.1', port: 6379, db: 0 };

describe('parseRedisAddress', () => {
  it.each([
    ['redis://127.0.0.1', local],
    ['valkey://127.0.0.1:6379/', local],
    ['redis://127.0.0.1/3', { ...local, db: 3 }],
    ['redis://[::1]:7000', { host: '::1', port: 7000, db: 0 }],
    ['redis://cache.example.org:7000', { host: 'cache.example.org', port: 7000, db: 0 }],
    ['redis://:p%40ss%2Fword@127.0.0.1', { ...local, password: 'p@ss/word' }],
    ['redis://parley:word@127.0.0.1', { ...local, username: 'parley', password: 'word' }],
    ['rediss://cache.example.org', { ...local, host: 'cache.example.org', tls: { servername: 'cache.example.org' } }],
    ['valkeys://127.0.0.1', { ...local, tls: {} }],
  ])('parses %s', (address, place) => {
    expect(parseRedisAddress(new Secret(address))).toEqual(place);
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
    'redis://:canary@host#1',
    'redis://:canary%zz@host',
    'redis-sentinel://:canary@host',
    'unix:///canary.sock',
  ])('rejects %s without quoting it', (address) => {
    const read = (): unknown => parseRedisAddress(new Secret(address));
    expect(read).toThrow(RedisAddressError);
    expect(read).not.toThrow(/canary/);
  });
});
