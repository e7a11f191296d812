import type { ContenderName, Grounds, Running } from './contenders.ts';
import type { Manner } from './requests.ts';

/** Measured values by the key of their metric. */
export type Values = Record<string, number>;

/** One column of a scenario's table. */
export interface Metric {
  key: string;
  title: string;
  digits: number;
}

/** Everything a scenario needs to run once. `scale` shortens a quick run. */
interface Stage {
  grounds: Grounds;
  load: string;
  running: Running;
  scale: number;
}

/** One kind of load. */
export interface Scenario {
  name: string;
  title: string;
  metrics: readonly Metric[];
  /** The metric whose ratios to the peers are printed. */
  compared: Metric;
  /** Where set, the contenders are gateways for browser add-ins (docs/addin.md) before the upstream of this manner. */
  addinManner?: Manner;
  /** Where set, there is nothing to compare it with. */
  only?: ContenderName;
  /** Who cannot do it. */
  without?: ContenderName;
  /** Whether it tells what Node itself takes. */
  hasBare?: boolean;
  run(stage: Stage): Promise<Values>;
}
