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

/** Context of one run of a scenario. `scale` shortens a quick run. */
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
  /**
   * If it is set, the contenders are gateways for browser add-ins (docs/addin.md) in front of the upstream of this
   * manner.
   */
  addinManner?: Manner;
  /** The only contender, if there are no peers to compare with. */
  only?: ContenderName;
  /** The contender that does not support the scenario. */
  without?: ContenderName;
  /** Whether the scenario also measures Node alone. */
  hasBare?: boolean;
  run(stage: Stage): Promise<Values>;
}
