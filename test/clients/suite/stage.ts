import type { Runners } from './runtimes.ts';
import type { Turns } from './turns.ts';
import type { World } from './world.ts';

/** What every part of the suite plays on. */
export interface Stage {
  readonly runners: Runners;
  readonly world: World;
  readonly turns: Turns;
}
