import { expect, it } from 'vitest';
import { ignoreEchoes } from './ignore-echoes.ts';

function hearing(environment: Readonly<Record<string, string>>) {
  const heard: string[] = [];
  let nowMs = 0;
  const clock = { nowMs: () => nowMs, epochMs: () => 0, sleep: () => Promise.resolve() };
  const hear = ignoreEchoes((signal) => heard.push(signal), environment, clock);
  const at = (ms: number, signal: NodeJS.Signals): void => {
    nowMs = ms;
    hear(signal);
  };
  return { heard, at };
}

it('ignoreEchoes drops a signal that npm repeats immediately, and accepts a later one', () => {
  const { heard, at } = hearing({ npm_lifecycle_event: 'start' });
  at(0, 'SIGINT');
  at(30, 'SIGINT');
  expect(heard).toEqual(['SIGINT']);
  at(40, 'SIGTERM');
  at(600, 'SIGINT');
  expect(heard).toEqual(['SIGINT', 'SIGTERM', 'SIGINT']);
});

it('ignoreEchoes passes every signal on without npm', () => {
  const { heard, at } = hearing({});
  at(0, 'SIGTERM');
  at(1, 'SIGTERM');
  expect(heard).toEqual(['SIGTERM', 'SIGTERM']);
});
