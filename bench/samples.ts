import type { ContenderName } from './contenders.ts';
import type { Scenario, Values } from './scenario.ts';
import { type Spread, toSpread } from './statistics.ts';

/** One run of one contender. An invalid run has `error` instead of values. */
export interface Sample {
  round: number;
  scenario: string;
  contender: ContenderName;
  values?: Values;
  error?: string;
}

/** A scenario with its contender. */
interface Run {
  scenario: Scenario;
  contender: ContenderName;
}

/** All samples of the harness by scenario and contender. Ratios and differences are computed within one round. */
export class Samples {
  readonly all: Sample[] = [];

  add(sample: Sample): void {
    this.all.push(sample);
  }

  #findValues(scenario: Scenario, contender: ContenderName, round: number): Values | undefined {
    return this.all.find((s) => s.scenario === scenario.name && s.contender === contender && s.round === round)?.values;
  }

  #rounds(): number[] {
    return [...new Set(this.all.map((sample) => sample.round))];
  }

  /** Returns whether the contender ran this scenario, validly or not. */
  has(scenario: Scenario, contender: ContenderName): boolean {
    return this.all.some((s) => s.scenario === scenario.name && s.contender === contender);
  }

  /** Counts runs during which other processes used more than this percentage of a core. */
  countDisturbed(othersShare: number): number {
    return this.all.filter(({ values }) => (values?.others ?? 0) > othersShare).length;
  }

  /** Returns the spread of a metric. */
  computeSpread(scenario: Scenario, contender: ContenderName, key: string): Spread | undefined {
    return toSpread(this.#rounds().map((round) => this.#findValues(scenario, contender, round)?.[key] ?? Number.NaN));
  }

  /** Returns the spread of the metric of one contender divided by the metric of another. */
  computeContenderRatio(
    scenario: Scenario,
    key: string,
    numerator: ContenderName,
    denominator: ContenderName,
  ): Spread | undefined {
    return this.computeRatio(key, { scenario, contender: numerator }, { scenario, contender: denominator });
  }

  /** Returns the spread of the ratio between two runs of one round, which may have different scenarios. */
  computeRatio(key: string, numerator: Run, denominator: Run): Spread | undefined {
    const measured = ({ scenario, contender }: Run, round: number): number =>
      this.#findValues(scenario, contender, round)?.[key] ?? Number.NaN;
    return toSpread(this.#rounds().map((round) => measured(numerator, round) / (measured(denominator, round) || Number.NaN)));
  }

  /**
   * Adds the differences to another contender of the same round: with the prefix `added`, these are `addedP50` and `addedP99`. A
   * difference to `direct` that is not above zero shows that the direct run was disturbed, so it is omitted.
   */
  addDifferences(scenario: string, under: ContenderName, prefix: string): void {
    const scenarioSamples = this.all.filter((sample) => sample.scenario === scenario);
    for (const { contender, round, values } of scenarioSamples) {
      const base = scenarioSamples.find((sample) => sample.contender === under && sample.round === round)?.values;
      if (!values || !base || contender === under) continue;
      for (const [key, name] of [
        ['p50', 'P50'],
        ['p99', 'P99'],
      ] as const) {
        const added = (values[key] ?? Number.NaN) - (base[key] ?? Number.NaN);
        values[prefix + name] = added > 0 || under !== 'direct' ? added : Number.NaN;
      }
    }
  }
}
