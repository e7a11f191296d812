import type { Log } from '#telemetry/log.ts';

export interface Closable {
  close(): unknown;
}

/** Stages: what is in one may need what is in later ones until it is closed. */
export type Closing = readonly (readonly Closable[])[];

/**
 * Closes stage after stage, what is in one side by side. What fails is told in the log and keeps nothing else from being
 * closed. Gives whether all of it could be.
 */
export async function closeInOrder(stages: Closing, log: Log): Promise<boolean> {
  let areClosed = true;
  for (const stage of stages) {
    const outcomes = await Promise.allSettled(stage.map(async (each) => each.close()));
    for (const outcome of outcomes) {
      if (outcome.status === 'fulfilled') continue;
      areClosed = false;
      log.error('stopping: something could not be closed', outcome.reason);
    }
  }
  return areClosed;
}
