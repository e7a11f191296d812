import type { Clock } from '#base/time/clock.ts';
import type { Environment } from '#configuration/substitute.ts';

type Hear = (signal: NodeJS.Signals) => void;

const echoMs = 500;

/** npm passes on what it is sent, so that a signal of the terminal, which is sent to both, comes twice; under npm it is heard once. */
export function withoutEchoes(hear: Hear, environment: Environment, clock: Clock): Hear {
  if (environment.npm_lifecycle_event === undefined) return hear;
  const heardAtMs = new Map<NodeJS.Signals, number>();
  return (signal) => {
    const nowMs = clock.nowMs();
    if (nowMs - (heardAtMs.get(signal) ?? Number.NEGATIVE_INFINITY) < echoMs) return;
    heardAtMs.set(signal, nowMs);
    hear(signal);
  };
}
