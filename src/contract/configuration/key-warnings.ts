import type { Configuration } from './configuration.ts';
import type { Fault } from './fault.ts';
import { notConfigured } from './nearest.ts';
import { parseTime } from './values.ts';

interface Known {
  readonly nowMs: number;
  readonly ids: ReadonlySet<string>;
  /** Returns whether a deployment is configured, or can be created through the API. */
  readonly mayExist: (id: string) => boolean;
}

/** Yields a warning for each expired key, and for each unknown deployment that a key is bound to. */
export function* findKeyWarnings({ keys }: Pick<Configuration, 'keys'>, { nowMs, ids, mayExist }: Known): Iterable<Fault> {
  for (const [name, { expiresAt, deployments = [] }] of Object.entries(keys)) {
    if (expiresAt !== undefined && (parseTime(expiresAt) ?? nowMs) <= nowMs) {
      yield {
        path: ['keys', name, 'expiresAt'],
        message: 'is in the past, so Parley rejects the key',
        hint: 'delete the entry or write a later time',
      };
    }
    for (const [index, id] of deployments.entries()) {
      if (!mayExist(id)) yield { path: ['keys', name, 'deployments', index], ...notConfigured('a deployment', id, ids) };
    }
  }
}
