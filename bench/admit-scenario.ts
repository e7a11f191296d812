import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { InvalidRun } from './run-load.ts';
import type { Metric, Scenario, Values } from './scenario.ts';

const micros: Metric = { key: 'micros', title: 'in memory, µs a call', digits: 2 };

/** Measures key, role, consent, and limits of a call without HTTP. Runs `bench/admit.ts` in a separate process. */
export const admitScenario: Scenario = {
  name: 'admit',
  title: 'Letting a call in: key, role, consent, limits of four windows',
  metrics: [
    micros,
    { key: 'consentMicros', title: 'per-request key and consent, µs a call', digits: 2 },
    { key: 'roundTrips', title: 'commands to Redis a call', digits: 2 },
    { key: 'sharedMicros', title: 'with Redis, µs waited a call', digits: 0 },
    { key: 'stored', title: 'consents into SQLite a second', digits: 0 },
    { key: 'posted', title: 'consents through the door a second', digits: 0 },
  ],
  comparedMetric: micros,
  only: 'parley',
  async run({ harness }) {
    const { stdout } = await promisify(execFile)(harness.node, [join(harness.bench, 'admit.ts'), '--json']).catch(
      (error: Error) => {
        throw new InvalidRun(error.message);
      },
    );
    return JSON.parse(stdout) as Values;
  },
};
