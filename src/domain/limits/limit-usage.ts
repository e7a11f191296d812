import { countRemaining, type LimitStatus, toWindowName } from './limit-error.ts';
import { unitsPerUsd } from './limits.ts';

/** Usage of one limit, for users. Amounts are tokens, requests, or USD. */
export interface LimitUsage {
  /** Kind and period, such as `cost.month` or `calls.parallel`. Followed by the deployment if the limit has one, such as `tokens.day:gpt`. */
  readonly window: string;
  readonly limit: number;
  /** For `calls.parallel`, the calls in progress. */
  readonly used: number;
  /** Amount reserved for calls in progress. Absent if it is 0. */
  readonly reserved?: number;
  readonly remaining: number;
  /** End of the window, in milliseconds since the epoch. Absent for `calls.parallel`. */
  readonly resetsAt?: number;
}

/** Returns the usage of a limit on a deployment. */
export function toLimitUsage(status: LimitStatus, deployment: string): LimitUsage {
  const { limit, used, reserved, resetsAtMs } = status;
  const window = toWindowName(limit, deployment);
  if (limit.window.kind === 'calls') return { window, limit: limit.total, used: reserved, remaining: countRemaining(status) };
  const units = limit.window.kind === 'cost' ? unitsPerUsd : 1;
  return {
    ...{ window, limit: limit.total / units, used: used / units },
    ...(reserved > 0 && { reserved: reserved / units }),
    ...{ remaining: countRemaining(status) / units, resetsAt: resetsAtMs },
  };
}
