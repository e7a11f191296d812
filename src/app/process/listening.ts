import { readFileSync } from 'node:fs';
import type { Server as HttpsServer } from 'node:https';
import type { AddressInfo, Server } from 'node:net';
import { createSecureContext } from 'node:tls';
import type { Log } from '#telemetry/log.ts';
import { getReason, SettingError, type Settings } from '../settings.ts';

/** Address to listen on. */
type ListenSettings = Pick<Settings, 'host' | 'port' | 'tls'>;

/**
 * Returns the option of `listen` for a port that all workers share. On Linux, the kernel distributes connections evenly over the
 * workers, without the primary process. On other systems, node:cluster distributes connections.
 */
export function toSharedPort(worker: object | undefined): { readonly reusePort?: true } {
  return worker !== undefined && process.platform === 'linux' ? { reusePort: true } : {};
}

/** Runs `listen` and returns the URL of the server. Throws SettingError if the port is not available. */
export async function listenForAddress(
  listen: () => Promise<unknown>,
  server: Pick<Server, 'address'>,
  settings: ListenSettings,
): Promise<string> {
  const { host, port, tls } = settings;
  await listenAt(listen, { host, port, setting: '--port' });
  const { port: boundPort } = server.address() as AddressInfo;
  const displayedHost = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  return `${tls === undefined ? 'http' : 'https'}://${displayedHost.includes(':') ? `[${displayedHost}]` : displayedHost}:${boundPort}`;
}

/**
 * Returns the result of `listen`. Throws SettingError, which names the setting of the port, if the port or the address is not
 * available.
 */
export async function listenAt<Value>(
  listen: () => Promise<Value>,
  { host, port, setting }: Pick<ListenSettings, 'host' | 'port'> & { readonly setting: string },
): Promise<Value> {
  try {
    return await listen();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EADDRINUSE') throw new SettingError(`port ${port} of ${host} is in use. Choose another port with ${setting}`);
    if (code === 'EACCES')
      throw new SettingError(
        `port ${port} requires privileges that this process does not have. Choose a port above 1023 with ${setting}`,
      );
    if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND')
      throw new SettingError(`${host} is not an address of this machine. Choose another address with --host`);
    throw error;
  }
}

type TlsFiles = NonNullable<Settings['tls']>;

/** Certificate chain and private key in PEM. */
interface TlsPair {
  readonly cert: Buffer;
  readonly key: Buffer;
}

/** Reads both files. Throws SettingError if a file cannot be read or the files do not match. */
export function readTls({ certFile, keyFile }: TlsFiles): TlsPair {
  const pair = { cert: readPem('--tls-cert', certFile), key: readPem('--tls-key', keyFile) };
  try {
    createSecureContext(pair);
    return pair;
  } catch (cause) {
    throw new SettingError(`the certificate ${certFile} does not work with the key ${keyFile}: ${getReason(cause)}`);
  }
}

function readPem(flag: string, file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    const reason =
      code === 'ENOENT' ? 'the file does not exist' : code === 'EACCES' ? 'no permission to read the file' : String(cause);
    throw new SettingError(`${flag} ${file}: ${reason}`);
  }
}

/** Uses changed files for new connections. If a new pair is invalid, logs the error and keeps the previous pair. */
export async function watchTls(files: TlsFiles, server: HttpsServer, log: Log): Promise<{ close(): Promise<void> }> {
  const { watch } = await import('chokidar');
  const watcher = watch([files.certFile, files.keyFile], {
    ignoreInitial: true,
    awaitWriteFinish: { stabilityThreshold: 200, pollInterval: 50 },
  });
  watcher.on('all', () => {
    try {
      server.setSecureContext(readTls(files));
      log.info('certificate reloaded', { file: files.certFile });
    } catch (error) {
      log.error('cannot reload the certificate, the previous one stays in effect', error, { file: files.certFile });
    }
  });
  return watcher;
}
