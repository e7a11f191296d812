import { formatUsd } from '../../strings/formats.ts';
import { useLanguage } from '../../strings/strings.tsx';
import { useBuilderStrings } from '../builder-strings.ts';
import type { TraceStep } from './read-trace.ts';

interface Formatters {
  readonly formatDuration: (ms: number) => string;
  /** Formats the total tokens and costs. Omits those that are unknown. */
  readonly formatUsage: (steps: readonly TraceStep[]) => readonly string[];
}

/** Returns functions that format durations, tokens, and costs in the selected language and the region of the browser. */
export function useFormatters(): Formatters {
  const { strings, locale } = useLanguage();
  const builderStrings = useBuilderStrings();
  const formatNumber = (value: number): string => value.toLocaleString(locale);
  return {
    formatDuration: (ms) => {
      if (ms < 1000) return `${formatNumber(Math.round(ms))} ms`;
      return `${(ms / 1000).toLocaleString(locale, { maximumFractionDigits: 1 })} s`;
    },
    formatUsage: (steps) => {
      const [prompt, completion] = [sum(steps, 'promptTokens'), sum(steps, 'completionTokens')];
      const isPriced = steps.some(({ usd }) => usd !== undefined);
      const usd = formatUsd(sum(steps, 'usd'), locale);
      return [
        ...(prompt + completion > 0 ? [builderStrings.tokensInAndOut(formatNumber(prompt), formatNumber(completion))] : []),
        ...(isPriced ? [strings.cost(usd)] : []),
      ];
    },
  };
}

function sum(steps: readonly TraceStep[], key: 'promptTokens' | 'completionTokens' | 'usd'): number {
  return steps.reduce((total, step) => total + (step[key] ?? 0), 0);
}
