import type { ContenderName } from './contenders.ts';
import type { Scenario, Values } from './scenario.ts';
import { type Spread, toSpread } from './statistics.ts';

/** One run of one contender; `fault` instead of values when it was invalid. */
export interface Sample {
  round: number;
  scenario: string;
  contender: ContenderName;
  values?: Values;
  error?: string;
}

/** What was run. */
interface Run {
  scenario: Scenario;
  contender: ContenderName;
}

/** All samples of a run of the harness, asked by scenario and contender. Ratios and differences are taken within one round. */
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

  /** Whether the contender was run on this scenario at all, valid or not. */
  has(scenario: Scenario, contender: ContenderName): boolean {
    return this.all.some((s) => s.scenario === scenario.name && s.contender === contender);
  }

  /** How many runs others on the machine disturbed by more than a share of a core, in per cent. */
  countDisturbed(othersShare: number): number {
    return this.all.filter(({ values }) => (values?.others ?? 0) > othersShare).length;
  }

  /** The spread of a metric. */
  spread(scenario: Scenario, contender: ContenderName, key: string): Spread | undefined {
    return toSpread(this.#rounds().map((round) => this.#findValues(scenario, contender, round)?.[key] ?? Number.NaN));
  }

  /** The spread of one contender's metric divided by another's. */
  ratio(scenario: Scenario, key: string, numerator: ContenderName, under: ContenderName): Spread | undefined {
    return this.computeRatio(key, { scenario, contender: numerator }, { scenario, contender: under });
  }

  /** The same between two runs of one round, of whatever scenario. */
  computeRatio(key: string, numerator: Run, under: Run): Spread | undefined {
    const measured = ({ scenario, contender }: Run, round: number): number =>
      this.#findValues(scenario, contender, round)?.[key] ?? Number.NaN;
    return toSpread(this.#rounds().map((round) => measured(numerator, round) / (measured(under, round) || Number.NaN)));
  }

  /**
   * Writes what each contender takes over another of the same round: `addedP50` and `addedP99` with the prefix `added`. Over the direct
   * way a difference that is not above zero says that the direct run was disturbed; it is left out.
   */
  deriveOver(scenario: string, under: ContenderName, prefix: string): void {
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
