import type { Clock } from '#base/time/clock.ts';
import type { Environment } from '#configuration/substitute.ts';

type SignalHandler = (signal: NodeJS.Signals) => void;

const echoMs = 500;

/**
 * Under npm, drops a repeated signal within 500 ms. npm forwards signals to its child, so a signal from the terminal, which both
 * receive, arrives twice.
 */
export function ignoreEchoes(handler: SignalHandler, environment: Environment, clock: Clock): SignalHandler {
  if (environment.npm_lifecycle_event === undefined) return handler;
  const receivedAtMs = new Map<NodeJS.Signals, number>();
  return (signal) => {
    const nowMs = clock.nowMs();
    if (nowMs - (receivedAtMs.get(signal) ?? Number.NEGATIVE_INFINITY) < echoMs) return;
    receivedAtMs.set(signal, nowMs);
    handler(signal);
  };
}
