import { useLanguage } from '../../strings/strings.tsx';
import { useBuilderStrings } from '../builder-strings.ts';
import type { TraceStep } from './read-trace.ts';

interface Amounts {
  readonly formatTime: (ms: number) => string;
  /** Formats tokens and costs, if there are any. */
  readonly listUsage: (steps: readonly TraceStep[]) => readonly string[];
}

/** Formats the times, tokens, and costs of a trace. */
export function useAmounts(): Amounts {
  const { strings, language } = useLanguage();
  const builderStrings = useBuilderStrings();
  const number = (value: number): string => value.toLocaleString(language);
  return {
    formatTime: (ms) => {
      if (ms < 1000) return `${number(Math.round(ms))} ms`;
      return `${(ms / 1000).toLocaleString(language, { maximumFractionDigits: 1 })} s`;
    },
    listUsage: (steps) => {
      const [prompt, completion] = [sum(steps, 'promptTokens'), sum(steps, 'completionTokens')];
      const isPriced = steps.some(({ usd }) => usd !== undefined);
      const usd = sum(steps, 'usd').toLocaleString(language, { style: 'currency', currency: 'USD', maximumSignificantDigits: 2 });
      return [
        ...(prompt + completion > 0 ? [builderStrings.tokensInAndOut(number(prompt), number(completion))] : []),
        ...(isPriced ? [strings.cost(usd)] : []),
      ];
    },
  };
}

function sum(steps: readonly TraceStep[], key: 'promptTokens' | 'completionTokens' | 'usd'): number {
  return steps.reduce((total, step) => total + (step[key] ?? 0), 0);
}
