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

it('a signal that npm repeats at once is heard once, and again when somebody means it', () => {
  const { heard, at } = hearing({ npm_lifecycle_event: 'start' });
  at(0, 'SIGINT');
  at(30, 'SIGINT');
  expect(heard).toEqual(['SIGINT']);
  at(40, 'SIGTERM');
  at(600, 'SIGINT');
  expect(heard).toEqual(['SIGINT', 'SIGTERM', 'SIGINT']);
});

it('without npm every signal is heard', () => {
  const { heard, at } = hearing({});
  at(0, 'SIGTERM');
  at(1, 'SIGTERM');
  expect(heard).toEqual(['SIGTERM', 'SIGTERM']);
});
