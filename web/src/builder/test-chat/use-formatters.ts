import { useLanguage } from '../../strings/strings.tsx';
import { useBuilderStrings } from '../builder-strings.ts';
import type { TraceStep } from './read-trace.ts';

interface Formatters {
  readonly formatDuration: (ms: number) => string;
  /** Formats the total tokens and costs. Omits those that are unknown. */
  readonly formatUsage: (steps: readonly TraceStep[]) => readonly string[];
}

/** Returns functions that format durations, tokens, and costs in the language of the page. */
export function useFormatters(): Formatters {
  const { strings, language } = useLanguage();
  const builderStrings = useBuilderStrings();
  const formatNumber = (value: number): string => value.toLocaleString(language);
  return {
    formatDuration: (ms) => {
      if (ms < 1000) return `${formatNumber(Math.round(ms))} ms`;
      return `${(ms / 1000).toLocaleString(language, { maximumFractionDigits: 1 })} s`;
    },
    formatUsage: (steps) => {
      const [prompt, completion] = [sum(steps, 'promptTokens'), sum(steps, 'completionTokens')];
      const isPriced = steps.some(({ usd }) => usd !== undefined);
      const usd = sum(steps, 'usd').toLocaleString(language, { style: 'currency', currency: 'USD', maximumSignificantDigits: 2 });
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
