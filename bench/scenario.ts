import type { ContenderName, Harness, RunningContender } from './contenders.ts';
import type { Manner } from './requests.ts';

/** Measured values by metric key. */
export type Values = Record<string, number>;

/** One column of a scenario table. */
export interface Metric {
  key: string;
  title: string;
  digits: number;
}

/** Parameters of one scenario run. `scale` shortens a quick run. */
export interface Stage {
  harness: Harness;
  load: string;
  running: RunningContender;
  scale: number;
}

/** One kind of load. */
export interface Scenario {
  name: string;
  title: string;
  metrics: readonly Metric[];
  /** Metric whose ratios to the peers are printed. */
  comparedMetric: Metric;
  /** If set, the contenders are gateways for browser add-ins (docs/addin.md) in front of the upstream of this manner. */
  addinManner?: Manner;
  /** Only contender of a scenario without a comparison. */
  only?: ContenderName;
  /** Contender that does not support the scenario. */
  excluded?: ContenderName;
  /** Whether `bare` is measured too. */
  includesBare?: boolean;
  run(stage: Stage): Promise<Values>;
}
