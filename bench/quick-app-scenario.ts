import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { InvalidRun } from './run-load.ts';
import type { Metric, Scenario, Values } from './scenario.ts';

const loop: Metric = { key: 'loopMicros', title: 'the loop alone, µs CPU a turn', digits: 0 };

/**
 * 200 concurrent runs of an app with three paced tools. Runs `bench/quick-app.ts` with a separate Parley on the core of the
 * contender.
 */
export const quickAppScenario: Scenario = {
  name: 'quick-app',
  title: 'Quick app: 200 concurrent runs, five turns with three paced REST tools each',
  metrics: [
    loop,
    { key: 'turnMicros', title: 'a turn with its tools, µs CPU', digits: 0 },
    { key: 'callMicros', title: 'a call of the model alone, µs CPU', digits: 0 },
    { key: 'inTime', title: 'stages in time, %', digits: 1 },
    { key: 'delayP50', title: 'answer of a tool to closed stage p50, ms', digits: 1 },
    { key: 'delayP99', title: 'p99, ms', digits: 1 },
    { key: 'answered', title: 'runs answered, %', digits: 1 },
    { key: 'coreUsed', title: 'core used, %', digits: 0 },
  ],
  comparedMetric: loop,
  only: 'parley',
  async run({ harness }) {
    const script = join(harness.bench, 'quick-app.ts');
    const { stdout } = await promisify(execFile)(harness.node, [script, '--json']).catch((error: Error) => {
      throw new InvalidRun(error.message);
    });
    return JSON.parse(stdout) as Values;
  },
};
