import type { Clock } from '#base/time/clock.ts';
import type { Environment } from '#configuration/substitute.ts';

type SignalHandler = (signal: NodeJS.Signals) => void;

const echoMs = 500;

/** npm passes on what it is sent, so that a signal of the terminal, which is sent to both, comes twice; under npm it is heard once. */
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
