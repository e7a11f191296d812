import type { Runners } from './runtimes.ts';
import type { Turns } from './turns.ts';
import type { World } from './world.ts';

/** Shared objects of all parts of the suite. */
export interface Stage {
  readonly runners: Runners;
  readonly world: World;
  readonly turns: Turns;
}
