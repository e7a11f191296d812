import { configureGlobal } from 'fast-check';

const setting = process.env.FUZZ_RUNS;

/** Number of cases per property from `FUZZ_RUNS`, or undefined if it is not set. */
export const fuzzRuns = setting === undefined ? undefined : Number(setting);

/** Property tests use a fixed seed, so that a failure is caused by the current change. `FUZZ_RUNS` searches for new cases. */
configureGlobal(fuzzRuns === undefined ? { seed: 1 } : { numRuns: fuzzRuns });
