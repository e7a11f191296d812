import type { IncomingHttpHeaders } from 'node:http';
import { BlockList, isIP, isIPv6 } from 'node:net';
import type { TLSSocket } from 'node:tls';

/** Values of `X-Real-IP`, `X-Forwarded-For`, and `X-Forwarded-Proto` (docs/addin.md). */
export interface ClientAddress {
  readonly realIp: string;
  readonly forwardedFor: string;
  readonly proto: 'http' | 'https';
}

/** The request whose client address is resolved. */
export interface RequestOrigin {
  readonly socket: { readonly remoteAddress?: string | undefined };
  readonly headers: IncomingHttpHeaders;
}

/** The remote end of a connection. */
interface Peer {
  readonly address: string;
  readonly isSecure: boolean;
}

export function toPeer(socket: RequestOrigin['socket']): Peer {
  return { address: socket.remoteAddress ?? '', isSecure: (socket as Partial<TLSSocket>).encrypted === true };
}

/**
 * Returns the address of the client. Headers count only if the connection comes from a trusted proxy. The client is then the last
 * address in `X-Forwarded-For` that is not a trusted proxy, or the first if all are. For other connections, the client is the
 * remote end.
 */
export function resolveClientAddress(
  peer: Peer,
  headers: IncomingHttpHeaders,
  isTrusted: (address: string) => boolean,
): ClientAddress {
  const address = unmapAddress(peer.address);
  const ownProto = peer.isSecure ? 'https' : 'http';
  if (!isTrusted(address)) return { realIp: address, forwardedFor: address, proto: ownProto };
  const forwarded = splitList(headers['x-forwarded-for']);
  const realIp = forwarded.findLast((hop) => !isTrusted(hop)) ?? forwarded[0] ?? address;
  return { realIp, forwardedFor: [...forwarded, address].join(', '), proto: toProto(headers['x-forwarded-proto']) ?? ownProto };
}

function splitList(field: string | string[] | undefined): string[] {
  const items = String(field ?? '').split(',');
  return items.map((item) => unmapAddress(item.trim())).filter((item) => item !== '');
}

function toProto(field: string | string[] | undefined): 'http' | 'https' | undefined {
  const last = splitList(field).at(-1)?.toLowerCase();
  return last === 'http' || last === 'https' ? last : undefined;
}

/** Converts an IPv4-mapped IPv6 address to IPv4. */
function unmapAddress(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.)/i, '');
}

/** Returns a predicate for addresses in the networks (addresses or CIDR notation). Invalid addresses are in no network. */
export function createNetworkMatcher(networks: readonly string[]): (address: string) => boolean {
  if (networks.length === 0) return () => false;
  const list = new BlockList();
  for (const network of networks) {
    const [address = '', bits] = network.split('/');
    const family = isIPv6(address) ? 'ipv6' : 'ipv4';
    if (bits === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(bits), family);
  }
  return (address) => isIP(address) !== 0 && list.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
}
