import { largeBodies } from './bodies/large-bodies.ts';
import { clientFaults } from './clients/client-faults.ts';
import { documents } from './documents/documents.ts';
import { fuzzRoutes } from './fuzz/fuzz-routes.ts';
import { fuzzUpstreams } from './fuzz/fuzz-upstreams.ts';
import { hostileText } from './hostile-text/hostile-text.ts';
import { killsOfNodes, killsOfOne } from './kills/kills.ts';
import { rights } from './rights/rights.ts';
import { rollingRestart } from './rolling/rolling-restart.ts';
import { backgroundRuns } from './runs/background-runs.ts';
import type { Scenario } from './scenario.ts';
import { storesAway } from './stores/stores-away.ts';
import { upstreamFaults } from './upstreams/upstream-faults.ts';

/** All scenarios in the order in which they run. */
export const scenarios: readonly Scenario[] = [
  killsOfOne,
  killsOfNodes,
  backgroundRuns,
  storesAway,
  rollingRestart,
  upstreamFaults,
  clientFaults,
  largeBodies,
  documents,
  fuzzRoutes,
  fuzzUpstreams,
  hostileText,
  rights,
];
