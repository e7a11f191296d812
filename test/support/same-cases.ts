import { configureGlobal } from 'fast-check';

const setting = process.env.FUZZ_RUNS;

/** How many cases of each property `FUZZ_RUNS` wants tried; absent where it is not set. */
export const fuzzRuns = setting === undefined ? undefined : Number(setting);

/** Property tests try the same cases each time, so that a failure is of the change at hand; `FUZZ_RUNS` looks for new ones. */
configureGlobal(fuzzRuns === undefined ? { seed: 1 } : { numRuns: fuzzRuns });
