import { readFileSync } from 'node:fs';
import type { Secret } from '#base/secrets/secret.ts';

const syntaxMessage =
  'must be redis://[user:password@]host[:port][/database], rediss:// for TLS, redis-cluster://host,host, or redis-sentinel://host,host?name=NAME. valkey works instead of redis';
const schemePattern = /^(?:redis|valkey)(s?)(?:-(cluster|sentinel))?$/;
const defaultPorts = { server: 6379, cluster: 6379, sentinel: 26_379 } as const;
const maxHosts = 100;

/** The address of a Redis is invalid, or its CA file cannot be read. The message can be shown and does not quote the address. */
export class RedisAddressError extends Error {}

export interface RedisHost {
  readonly host: string;
  readonly port: number;
}

interface Credentials {
  readonly username?: string;
  readonly password?: string;
}

/** Connection parameters of a Redis. */
export interface RedisConnectionOptions extends Credentials {
  readonly kind: 'server' | 'cluster' | 'sentinel';
  /** The server, some nodes of the cluster, or the sentinels. At least one. */
  readonly hosts: readonly [RedisHost, ...RedisHost[]];
  readonly db: number;
  /** Defined for connections over TLS. `ca` has the CA certificates as PEM, which replace those of Node.js. */
  readonly tls?: { readonly ca?: string };
  /** Name of the monitored primary, and the credentials of the sentinels. */
  readonly sentinel?: Credentials & { readonly name: string };
}

/** Parses an address and reads its CA file. Throws `RedisAddressError`. */
export function parseRedisAddress(address: Secret): RedisConnectionOptions {
  const [schemeText = '', ...afterScheme] = address.reveal().split('://');
  const [, tlsSuffix = '', topology] = schemePattern.exec(schemeText) ?? throwSyntaxError();
  const parts = afterScheme.join('://').split('@');
  const hostList = (parts.at(-1) ?? '').split(',');
  const [lastHost, path] = splitPath(hostList.at(-1) ?? '');
  const hostTexts = [...hostList.slice(0, -1), lastHost];
  const kind = topology === 'cluster' || topology === 'sentinel' ? topology : hostTexts.length > 1 ? 'cluster' : 'server';
  const [first = throwSyntaxError(), ...furtherHosts] = hostTexts.map((host) => parseHost(host, defaultPorts[kind]));
  if (furtherHosts.length >= maxHosts) throwSyntaxError();
  const { database, parameters } = parsePath(path);
  const { cacert, name, sentinel_user: username, sentinel_password: password, ...unknown } = parameters;
  const isValid =
    Object.keys(unknown).length === 0 &&
    (kind !== 'cluster' || database === 0) &&
    (kind === 'sentinel' ? name !== undefined : name === undefined && username === undefined && password === undefined) &&
    (tlsSuffix === 's' || cacert === undefined);
  if (!isValid) throwSyntaxError();
  return {
    kind,
    hosts: [first, ...furtherHosts],
    db: database,
    ...toCredentials(parts.slice(0, -1).join('@')),
    ...(tlsSuffix === 's' && { tls: cacert === undefined ? {} : { ca: readCa(cacert) } }),
    ...(name !== undefined && { sentinel: { name, ...(username && { username }), ...(password && { password }) } }),
  };
}

function throwSyntaxError(): never {
  throw new RedisAddressError(syntaxMessage);
}

/** Splits the last host of an address from its path and parameters. */
function splitPath(text: string): readonly [string, string] {
  const end = text.search(/[/?#]/);
  return end < 0 ? [text, ''] : [text.slice(0, end), text.slice(end)];
}

function parseHost(text: string, defaultPort: number): RedisHost {
  const url = URL.parse(`redis://${text}`);
  if (url === null || url.hostname === '' || /[/?#@]/.test(text)) return throwSyntaxError();
  return { host: url.hostname.replace(/^\[|\]$/g, ''), port: Number(url.port || defaultPort) };
}

function parsePath(path: string): { database: number; parameters: Readonly<Record<string, string | undefined>> } {
  const url = URL.parse(`redis://host${path}`);
  const database = /^\/?(\d{0,9})$/.exec(url?.pathname ?? 'invalid')?.[1];
  if (url === null || database === undefined || url.hash !== '') return throwSyntaxError();
  return { database: Number(database), parameters: Object.fromEntries(url.searchParams) };
}

function toCredentials(text: string): Credentials {
  const [username = '', password = ''] = text.split(/:(.*)/s).map(decode);
  return { ...(username !== '' && { username }), ...(password !== '' && { password }) };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new RedisAddressError('has a stray % in its user or password. Write %25 for it');
  }
}

function readCa(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new RedisAddressError(`names a file in cacert that cannot be read (${code}). Check its path and permissions`);
  }
}
