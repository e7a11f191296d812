import type { AddressInfo, Server } from 'node:net';
import { SettingFault, type Settings } from '../settings.ts';

/** Where a server listens. */
type Place = Pick<Settings, 'host' | 'port' | 'tls'>;

/** Waits for `listen`, which makes the server listen there; gives the address that others reach it by. Throws SettingFault where the port cannot be had. */
export async function addressOnce(
  listen: () => Promise<unknown>,
  server: Pick<Server, 'address'>,
  place: Place,
): Promise<string> {
  const { host, port, tls } = place;
  await listenAt(listen, { host, port, setting: '--port' });
  const { port: bound } = server.address() as AddressInfo;
  const shown = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  return `${tls === undefined ? 'http' : 'https'}://${shown.includes(':') ? `[${shown}]` : shown}:${bound}`;
}

/**
 * Returns the result of `listen`. Throws SettingFault, which names the setting of the port, if the port or the address is not
 * available.
 */
export async function listenAt<Value>(
  listen: () => Promise<Value>,
  { host, port, setting }: Pick<Place, 'host' | 'port'> & { readonly setting: string },
): Promise<Value> {
  try {
    return await listen();
  } catch (thrown) {
    const code = thrown instanceof Error && 'code' in thrown ? thrown.code : undefined;
    if (code === 'EADDRINUSE') throw new SettingFault(`port ${port} of ${host} is in use; choose another with ${setting}`);
    if (code === 'EACCES')
      throw new SettingFault(`port ${port} may not be used by this process; choose one above 1023 with ${setting}`);
    if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND')
      throw new SettingFault(`${host} is no address of this machine; choose another with --host`);
    throw thrown;
  }
}
