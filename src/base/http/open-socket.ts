import { isIP, type LookupFunction, connect as netConnect, type OnReadOpts, type Socket } from 'node:net';
import { type ConnectionOptions, connect as tlsConnect } from 'node:tls';

/** Where a socket leads. */
export interface SocketTarget {
  readonly isSecure: boolean;
  /** A name or a literal address, IPv6 without brackets. */
  readonly host: string;
  readonly port: number;
  /** As in HttpClientOptions. */
  readonly ca: string | undefined;
  readonly lookup: LookupFunction | undefined;
}

/** Reads go to `onread`, never to `data`. */
export function openTcp(target: SocketTarget, onread: OnReadOpts): Socket {
  const { host, port, lookup } = target;
  return netConnect({ host, port, onread, ...(lookup && { lookup }) });
}

/** As `openTcp`, with the server's certificate verified for its name or address. `session` shortens the handshake. */
export function openTls(target: SocketTarget, session: Buffer | null, onread: OnReadOpts): Socket {
  const { host, port, lookup, ca } = target;
  const options: ConnectionOptions & { onread: OnReadOpts } = {
    host,
    port,
    onread,
    ALPNProtocols: ['http/1.1'],
    ...(isIP(host) === 0 && { servername: host }),
    ...(session && { session }),
    ...(lookup && { lookup }),
    ...(ca !== undefined && { ca }),
  };
  return tlsConnect(options);
}
