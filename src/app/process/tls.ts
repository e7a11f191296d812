import { readFileSync } from 'node:fs';
import type { Server } from 'node:https';
import { createSecureContext } from 'node:tls';
import type { Log } from '#telemetry/log.ts';
import { SettingFault, type Settings } from '../settings.ts';

type TlsFiles = NonNullable<Settings['tls']>;

/** A certificate chain and its key, in PEM. */
export interface TlsPair {
  readonly cert: Buffer;
  readonly key: Buffer;
}

/** Reads both files. Throws SettingFault if one cannot be read or they do not belong together. */
export function readTls({ certFile, keyFile }: TlsFiles): TlsPair {
  const pair = { cert: readPem('--tls-cert', certFile), key: readPem('--tls-key', keyFile) };
  try {
    createSecureContext(pair);
    return pair;
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : cause;
    throw new SettingFault(`the certificate ${certFile} does not work with the key ${keyFile}: ${reason}`);
  }
}

function readPem(flag: string, file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    const reason =
      code === 'ENOENT' ? 'the file does not exist' : code === 'EACCES' ? 'no permission to read the file' : String(cause);
    throw new SettingFault(`${flag} ${file}: ${reason}`);
  }
}

/** Puts changed files into use for new connections; a pair that cannot be used is told in the log and the last one stays. */
export async function watchTls(files: TlsFiles, server: Server, log: Log): Promise<{ close(): Promise<void> }> {
  const { watch } = await import('chokidar');
  const watcher = watch([files.certFile, files.keyFile], {
    ignoreInitial: true,
    awaitWriteFinish: { stabilityThreshold: 200, pollInterval: 50 },
  });
  watcher.on('all', () => {
    try {
      server.setSecureContext(readTls(files));
      log.info('the certificate was read anew', { file: files.certFile });
    } catch (thrown) {
      log.error('the certificate was not changed', thrown, { file: files.certFile });
    }
  });
  return watcher;
}
