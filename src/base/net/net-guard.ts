import { type LookupAddress, type LookupAllOptions, lookup as systemLookup } from 'node:dns';
import type { LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
import { type Exchange, type HttpClient, HttpError, type HttpRequest, type ReplyListener } from '../http/client.ts';

type Address = ipaddr.IPv4 | ipaddr.IPv6;
type Network = readonly [Address, number];
type LookupAll = (
  hostname: string,
  options: LookupAllOptions,
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

/** Thrown for a blocked address. Clients can receive the message, which contains the host as written and no resolved address. */
export class BlockedAddressError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'BlockedAddressError';
  }
}

/**
 * Blocks outgoing calls to private, local, and reserved addresses, for calls whose address comes from outside (SSRF). Both checks
 * are needed: `checkUrl` checks literal addresses, and `lookup` checks the resolved addresses at the moment of the connection. A
 * second lookup therefore cannot return another address (DNS rebinding).
 */
export class NetGuard {
  readonly #networks: readonly Network[];
  readonly #hosts: ReadonlySet<string>;
  readonly #lookupAll: LookupAll;

  /** `allowedEntries` are exceptions: networks in CIDR notation, addresses, and host names. */
  constructor(allowedEntries: readonly string[], lookupAll: LookupAll = systemLookup) {
    this.#networks = allowedEntries.filter(isNetwork).map(toNetwork);
    this.#hosts = new Set(allowedEntries.filter((entry) => !isNetwork(entry)).map(toHost));
    this.#lookupAll = lookupAll;
  }

  /** Throws `BlockedAddressError` if the URL has another scheme than http or https, has credentials, or names a blocked address. */
  checkUrl(url: URL): void {
    if (url.protocol !== 'http:' && url.protocol !== 'https:')
      throw new BlockedAddressError(`${url.protocol} URLs are not allowed`);
    if (url.username !== '' || url.password !== '')
      throw new BlockedAddressError('URLs with a user name or password are not allowed');
    const host = toHost(url.hostname);
    if (this.#hosts.has(host)) return;
    const literal = host.replace(/^\[(.*)\]$/, '$1');
    if (ipaddr.isValid(literal) && !this.#canReach(ipaddr.parse(literal))) throw toBlockedAddressError(host);
  }

  /** The `lookup` option of a socket. Returns the addresses of a host only if every one of them is allowed. */
  readonly lookup: LookupFunction = (hostname, options, callback) => {
    this.#lookupAll(hostname, { ...options, all: true }, (error, addresses) => {
      const isRejected =
        !error && !this.#hosts.has(toHost(hostname)) && !addresses.every(({ address }) => this.#canReachText(address));
      const [first] = addresses ?? [];
      if (error) callback(error, '');
      else if (isRejected || first === undefined) callback(toBlockedAddressError(hostname), '');
      else if (options.all) callback(null, addresses);
      else callback(null, first.address, first.family);
    });
  };

  #canReachText(text: string): boolean {
    return ipaddr.isValid(text) && this.#canReach(ipaddr.parse(text));
  }

  #canReach(resolvedAddress: Address): boolean {
    const address = unmapAddress(resolvedAddress);
    return (
      isPublic(address) ||
      this.#networks.some(([network, bits]) => network.kind() === address.kind() && address.match(network, bits))
    );
  }
}

const globalUnicast: Network = [ipaddr.parse('2000::'), 3];

/**
 * Addresses that no registry reserves but that lead to a service of the machine's own network: the platform endpoint of Azure
 * (wire server, DNS, health probes). The metadata services of the other clouds have link-local, shared, or reserved addresses.
 */
const platformServices: ReadonlySet<string> = new Set(['168.63.129.16']);

/** Returns false for all ranges with a special purpose in a registry, and for unassigned IPv6 ranges. */
function isPublic(address: Address): boolean {
  if (address.range() !== 'unicast') return false;
  if (address instanceof ipaddr.IPv4) return !platformServices.has(address.toString());
  return address.match(globalUnicast as [ipaddr.IPv6, number]);
}

function unmapAddress(address: Address): Address {
  return address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress() ? address.toIPv4Address() : address;
}

function isNetwork(entry: string): boolean {
  return ipaddr.isValidCIDR(entry) || ipaddr.isValid(entry);
}

function toNetwork(entry: string): Network {
  if (ipaddr.isValidCIDR(entry)) return ipaddr.parseCIDR(entry);
  const address = unmapAddress(ipaddr.parse(entry));
  return [address, address.kind() === 'ipv4' ? 32 : 128];
}

function toHost(name: string): string {
  return name.toLowerCase().replace(/\.$/, '');
}

function toBlockedAddressError(host: string): BlockedAddressError {
  return new BlockedAddressError(`${host} is or resolves to a blocked address. Allow it with security.allowPrivateNetworks`);
}

/**
 * Returns a client that cannot reach blocked addresses. It checks the address of each request and connects only to checked
 * addresses. `createClient` must use the given lookup. A blocked request fails with `HttpError` `unsendable`.
 */
export function guardClient(guard: NetGuard, createClient: (lookup: LookupFunction) => HttpClient): HttpClient {
  const client = createClient(guard.lookup);
  return {
    send(request, listener) {
      const error = checkAddress(guard, request);
      return error === null ? client.send(request, withGuardErrors(listener)) : failLater(listener, error);
    },
    close: () => client.close(),
  };
}

function checkAddress(guard: NetGuard, request: HttpRequest): HttpError | null {
  try {
    guard.checkUrl(request.url);
    return null;
  } catch (cause) {
    return toGuardError(cause) ?? new HttpError('unsendable', 'the address cannot be checked', cause);
  }
}

function failLater(listener: ReplyListener, error: HttpError): Exchange {
  let isCanceled = false;
  process.nextTick(() => {
    if (!isCanceled) listener.fail(error);
  });
  const cancel = (): void => {
    isCanceled = true;
  };
  const ignore = (): void => undefined;
  return { pause: ignore, resume: ignore, endWithin: ignore, cancel };
}

/** Passes a reply on. If the guard blocked the connection, passes the guard's error instead of the connection's error. */
function withGuardErrors(listener: ReplyListener): ReplyListener {
  return {
    head: (status, headers) => listener.head(status, headers),
    bytes: (text) => listener.bytes(text),
    end: () => listener.end(),
    fail: (error) => listener.fail(toGuardError(error) ?? error),
  };
}

function toGuardError(error: unknown): HttpError | undefined {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof BlockedAddressError) return new HttpError('unsendable', cause.message, error);
  }
  return undefined;
}
