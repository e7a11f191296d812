import { type LookupAddress, type LookupAllOptions, lookup as systemLookup } from 'node:dns';
import type { LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';

type Address = ipaddr.IPv4 | ipaddr.IPv6;
type Network = readonly [Address, number];
type LookupAll = (
  hostname: string,
  options: LookupAllOptions,
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

/** An outgoing call may not go there. The message may be shown; it names the host as it was written, never an address found. */
export class AddressRefusedError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'AddressRefusedError';
  }
}

/**
 * Keeps outgoing calls that others can steer away from private, local and reserved addresses (field notes, attack 1).
 * Both doors are needed: `checkUrl` sees what is written in an address, `lookup` what a host name stands for at the moment
 * it is connected to, so that no second look at the name can give another answer.
 */
export class NetGuard {
  readonly #networks: readonly Network[];
  readonly #hosts: ReadonlySet<string>;
  readonly #lookupAll: LookupAll;

  /** `allowed`: networks in CIDR notation, addresses and host names that may be reached all the same. */
  constructor(allowedEntries: readonly string[], lookupAll: LookupAll = systemLookup) {
    this.#networks = allowedEntries.filter(isNetwork).map(toNetwork);
    this.#hosts = new Set(allowedEntries.filter((entry) => !isNetwork(entry)).map(toHost));
    this.#lookupAll = lookupAll;
  }

  /** Throws AddressRefused if the address is not plain http or https, carries credentials, or names a refused address. */
  checkUrl(url: URL): void {
    if (url.protocol !== 'http:' && url.protocol !== 'https:')
      throw new AddressRefusedError(`${url.protocol} addresses are not called`);
    if (url.username !== '' || url.password !== '')
      throw new AddressRefusedError('addresses with a user name or password are not called');
    const host = toHost(url.hostname);
    if (this.#hosts.has(host)) return;
    const literal = host.replace(/^\[(.*)\]$/, '$1');
    if (ipaddr.isValid(literal) && !this.#canReach(ipaddr.parse(literal))) throw toRefusedError(host);
  }

  /** For `lookup` of a socket: gives the addresses of a host only if every one of them may be reached. */
  readonly lookup: LookupFunction = (hostname, options, callback) => {
    this.#lookupAll(hostname, { ...options, all: true }, (error, addresses) => {
      const isRefused =
        !error && !this.#hosts.has(toHost(hostname)) && !addresses.every(({ address }) => this.#canReachText(address));
      const [first] = addresses ?? [];
      if (error) callback(error, '');
      else if (isRefused || first === undefined) callback(toRefusedError(hostname), '');
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
 * Addresses that no registry reserves and that lead to a service of the machine's own network: the platform endpoint of Azure
 * (wire server, DNS, health probes). The metadata services of the other clouds have link-local, shared or reserved addresses.
 */
const platformServices: ReadonlySet<string> = new Set(['168.63.129.16']);

/** Everything that a registry gives a special meaning is refused, and all of IPv6 that is not given out. */
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

function toRefusedError(host: string): AddressRefusedError {
  return new AddressRefusedError(
    `${host} is, or leads to, an address that outgoing calls may not reach; security.allowPrivateNetworks can allow it`,
  );
}
