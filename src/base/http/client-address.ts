import type { IncomingHttpHeaders } from 'node:http';
import { BlockList, isIP, isIPv6 } from 'node:net';
import type { TLSSocket } from 'node:tls';

/** The values of `X-Real-IP`, `X-Forwarded-For` and `X-Forwarded-Proto` (docs/wire.md, Add-in). */
export interface ClientAddress {
  readonly realIp: string;
  readonly forwardedFor: string;
  readonly proto: 'http' | 'https';
}

/** The request whose caller's address is asked for. */
export interface RequestOrigin {
  readonly socket: { readonly remoteAddress?: string | undefined };
  readonly headers: IncomingHttpHeaders;
}

/** The other end of a connection. */
interface Peer {
  readonly address: string;
  readonly isSecure: boolean;
}

export function toPeer(socket: RequestOrigin['socket']): Peer {
  return { address: socket.remoteAddress ?? '', isSecure: (socket as Partial<TLSSocket>).encrypted === true };
}

/**
 * Who calls. The address of the connection replaces what a caller says of its own; only what a trusted proxy says
 * counts, and then the nearest address that is no trusted proxy is the caller's.
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

/** An IPv4 address that came over an IPv6 socket, as IPv4. */
function unmapAddress(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.)/i, '');
}

/** Tells whether an address is in one of the networks, given as addresses or in CIDR notation. What is no address is in none. */
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
