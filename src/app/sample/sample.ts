import { randomUUID } from 'node:crypto';
import { Secret } from '#base/secrets/secret.ts';
import type { Clock } from '#base/time/clock.ts';
import type { Log } from '#telemetry/log.ts';
import type { DurableStores } from '../node/stores.ts';
import { storeSampleDocuments } from './sample-applications.ts';
import { type SampleServer, startSampleServer } from './sample-server.ts';

/** Services that the sample app needs in addition to its configuration entry. */
export interface Sample {
  /** Undefined if the tools cannot be served. The configuration then has no sample app. */
  readonly server: SampleServer | undefined;
  /**
   * Logs why the server is missing, or stores the documents. Never rejects, because a missing sample must not keep a node from
   * starting.
   */
  prepare(tools: SampleDeps): Promise<void>;
}

interface SampleDeps {
  readonly files: DurableStores['files'];
  readonly clock: Clock;
  readonly log: Log;
}

/** Starts the server of the sample tools, which require the secret. Never rejects. */
export async function startSample(secret: string, host?: string): Promise<Sample> {
  try {
    return { server: await startSampleServer(new Secret(secret), host), prepare: storeDocuments };
  } catch (error) {
    const logFailure = ({ log }: SampleDeps): void => log.error('the sample app is left out: its tools cannot be served', error);
    return { server: undefined, prepare: async (tools) => logFailure(tools) };
  }
}

/** Stores the documents. Logs errors. */
export async function storeDocuments({ files, clock, log }: SampleDeps): Promise<void> {
  await storeSampleDocuments({ ...files, clock, newId: randomUUID }).catch((error: unknown) =>
    log.error('cannot store the documents of the sample app', error),
  );
}
