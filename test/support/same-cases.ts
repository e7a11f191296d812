import { configureGlobal } from 'fast-check';

/** Property tests try the same cases each time, so that a failure is of the change at hand; `FUZZ_RUNS` looks for new ones. */
const runs = process.env.FUZZ_RUNS;
configureGlobal(runs === undefined ? { seed: 1 } : { numRuns: Number(runs) });
