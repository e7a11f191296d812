import { expect, it } from 'vitest';
import { ignoreEchoes } from './ignore-echoes.ts';

function createListener(environment: Readonly<Record<string, string>>) {
  const signals: string[] = [];
  let nowMs = 0;
  const clock = { nowMs: () => nowMs, epochMs: () => 0, sleep: () => Promise.resolve() };
  const onSignal = ignoreEchoes((signal) => signals.push(signal), environment, clock);
  const sendAt = (ms: number, signal: NodeJS.Signals): void => {
    nowMs = ms;
    onSignal(signal);
  };
  return { signals, sendAt };
}

it('ignoreEchoes drops a signal that npm repeats immediately, and accepts a later one', () => {
  const { signals, sendAt } = createListener({ npm_lifecycle_event: 'start' });
  sendAt(0, 'SIGINT');
  sendAt(30, 'SIGINT');
  expect(signals).toEqual(['SIGINT']);
  sendAt(40, 'SIGTERM');
  sendAt(600, 'SIGINT');
  expect(signals).toEqual(['SIGINT', 'SIGTERM', 'SIGINT']);
});

it('ignoreEchoes passes every signal on without npm', () => {
  const { signals, sendAt } = createListener({});
  sendAt(0, 'SIGTERM');
  sendAt(1, 'SIGTERM');
  expect(signals).toEqual(['SIGTERM', 'SIGTERM']);
});
