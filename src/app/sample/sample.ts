import { randomUUID } from 'node:crypto';
import { Secret } from '#base/secrets/secret.ts';
import type { Clock } from '#base/time/clock.ts';
import type { Log } from '#telemetry/log.ts';
import type { DurableStores } from '../node/stores.ts';
import { storeSampleDocuments } from './sample-applications.ts';
import { type SampleServer, startSampleServer } from './sample-server.ts';

/** What the sample app needs beside its entry in the configuration. */
export interface Sample {
  /** Undefined where it cannot be served; the app is left out then. */
  readonly server: SampleServer | undefined;
  /** Tells what is missing, and stores the documents. Never rejects: no node fails to start for want of a sample. */
  prepare(tools: SampleDeps): Promise<void>;
}

interface SampleDeps {
  readonly files: DurableStores['files'];
  readonly clock: Clock;
  readonly log: Log;
}

/** Serves the tools of the sample app, which show themselves to who knows the secret. Never rejects. */
export async function startSample(secret: string, host?: string): Promise<Sample> {
  try {
    return { server: await startSampleServer(new Secret(secret), host), prepare: storeDocuments };
  } catch (error) {
    const logFailure = ({ log }: SampleDeps): void => log.error('the sample app is left out: its tools cannot be served', error);
    return { server: undefined, prepare: async (tools) => logFailure(tools) };
  }
}

async function storeDocuments({ files, clock, log }: SampleDeps): Promise<void> {
  await storeSampleDocuments({ ...files, clock, newId: randomUUID }).catch((error: unknown) =>
    log.error('the documents of the sample app could not be stored', error),
  );
}
