import { countRemaining, type LimitStatus, toWindowName } from './limit-error.ts';
import { unitsPerUsd } from './limits.ts';

/** Usage of one limit, for users. Amounts are tokens, requests, or USD. */
export interface LimitUsage {
  /** Kind and period, such as `cost.month`. Followed by the deployment if the limit has one, such as `tokens.day:gpt`. */
  readonly window: string;
  readonly limit: number;
  readonly used: number;
  /** Amount reserved for calls in progress. Absent if nothing is reserved. */
  readonly reserved?: number;
  readonly remaining: number;
  /** End of the window, in milliseconds since the epoch. */
  readonly resetsAt: number;
}

/** Returns the usage of a limit on a deployment. */
export function toLimitUsage(status: LimitStatus, deployment: string): LimitUsage {
  const { limit, used, reserved, resetsAtMs } = status;
  const units = limit.window.kind === 'cost' ? unitsPerUsd : 1;
  return {
    ...{ window: toWindowName(limit, deployment), limit: limit.total / units, used: used / units },
    ...(reserved > 0 && { reserved: reserved / units }),
    ...{ remaining: countRemaining(status) / units, resetsAt: resetsAtMs },
  };
}
