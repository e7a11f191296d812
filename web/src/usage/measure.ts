import { formatUsd } from '../strings/formats.ts';
import type { Amounts } from './read-usage.ts';

/** Displayed measure of the usage. */
export type Measure = 'cost' | 'tokens' | 'calls';

export function getAmount(measure: Measure, { cost, promptTokens, completionTokens, calls }: Amounts): number {
  if (measure === 'cost') return cost;
  return measure === 'tokens' ? promptTokens + completionTokens : calls;
}

/** Formats a cost as USD, and other values as numbers. */
export function formatValue(measure: Measure, value: number, locale: string): string {
  return measure === 'cost' ? formatUsd(value, locale) : value.toLocaleString(locale);
}

/** Returns the distance of grid lines: 1, 2, or 5 times a power of ten (integers: at least 1), for at most four lines above zero. */
export function computeAxisStep(highest: number, isInteger: boolean): number {
  const rough = highest / 4;
  if (!(rough > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((candidate) => candidate >= rough * 0.999_999) ?? rough;
  return isInteger ? Math.max(1, step) : step;
}
