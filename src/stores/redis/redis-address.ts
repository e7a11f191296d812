import { isIP } from 'node:net';
import type { Secret } from '#base/secrets/secret.ts';

const formMessage = 'must be redis://[user:password@]host[:port][/database], or start with rediss://, valkey://, or valkeys://';
/** Whether each scheme uses TLS. */
const schemes: ReadonlyMap<string, boolean> = new Map([
  ['redis:', false],
  ['valkey:', false],
  ['rediss:', true],
  ['valkeys:', true],
]);

/** The address of a Redis is invalid. The message may be shown and does not quote the address. */
export class RedisAddressError extends Error {}

/** Connection parameters of a Redis. */
export interface RedisConnectionOptions {
  readonly host: string;
  readonly port: number;
  readonly db: number;
  readonly username?: string;
  readonly password?: string;
  readonly tls?: { readonly servername?: string };
}

/** Throws `RedisAddressError` if the address is invalid. */
export function parseRedisAddress(address: Secret): RedisConnectionOptions {
  const url = URL.parse(address.reveal());
  const isTls = url === null ? undefined : schemes.get(url.protocol);
  const database = /^\/?(\d{0,9})$/.exec(url?.pathname ?? '')?.[1];
  const isPlain = url !== null && url.hostname !== '' && url.search === '' && url.hash === '';
  if (!isPlain || isTls === undefined || database === undefined) throw new RedisAddressError(formMessage);
  const host = url.hostname.replace(/^\[|\]$/g, '');
  return {
    host,
    port: Number(url.port || 6379),
    db: Number(database),
    ...(url.username !== '' && { username: decode(url.username) }),
    ...(url.password !== '' && { password: decode(url.password) }),
    ...(isTls && { tls: isIP(host) ? {} : { servername: host } }),
  };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new RedisAddressError('has a stray % in its user or password. Write %25 for it');
  }
}
