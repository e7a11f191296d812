import { readFileSync } from 'node:fs';
import type { Server } from 'node:https';
import { createSecureContext } from 'node:tls';
import type { Log } from '#telemetry/log.ts';
import { SettingFault, type Settings } from './settings.ts';

type TlsFiles = NonNullable<Settings['tls']>;

/** A certificate chain and its key, in PEM. */
export interface TlsPair {
  readonly cert: Buffer;
  readonly key: Buffer;
}

/** Reads both files. Throws SettingFault where they are missing or do not fit together. */
export function readTls({ certFile, keyFile }: TlsFiles): TlsPair {
  try {
    const pair = { cert: readFileSync(certFile), key: readFileSync(keyFile) };
    createSecureContext(pair);
    return pair;
  } catch (cause) {
    throw new SettingFault(
      `the certificate ${certFile} with the key ${keyFile} cannot be used: ${cause instanceof Error ? cause.message : cause}`,
    );
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
