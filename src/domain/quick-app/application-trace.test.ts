import { describe, expect, it } from 'vitest';
import type { ModelUsage } from '#contract/chat/chunk.ts';
import type { Caller } from '../callers/caller.ts';
import { HeldRights } from '../callers/held-rights.ts';
import type { ConfigSnapshot } from '../deployments/config-snapshot.ts';
import type { Deployment } from '../deployments/deployment.ts';
import { canTrace, computeUsd } from './application-trace.ts';

const userApplication = { ownership: { owner: 'ada', createdAtMs: 1, updatedAtMs: 1 } } as Deployment;
const configured = { ownership: null } as Deployment;
const chain = { path: ['app'], rights: new HeldRights(), report: () => undefined };

describe('canTrace', () => {
  it.each<[string, Partial<Caller>, Deployment, boolean]>([
    ['the owner of a saved application', { subject: 'ada' }, userApplication, true],
    ['an administrator on a saved application', { subject: 'bob', roles: ['admin'] }, userApplication, false],
    ['an administrator on a configured application', { roles: ['staff', 'admin'] }, configured, true],
    ['another user on a configured application', { roles: ['Admin', 'administrator'] }, configured, false],
    ['an application on behalf of its owner', { subject: 'ada', chain }, userApplication, false],
    ['an application on behalf of an administrator', { roles: ['admin'], chain }, configured, false],
  ])('returns the right of %s', (_who, fields, deployment, may) => {
    expect(canTrace({ subject: 'x', project: 'x', roles: [], chain: null, ...fields }, deployment)).toBe(may);
  });
});

describe('computeUsd', () => {
  const priced = { pricing: { prompt: 0.001, completion: 0.01 } } as Deployment;
  const snapshot = {
    deployments: new Map([
      ['priced', priced],
      ['free', { pricing: undefined } as Deployment],
    ]),
  } as unknown as ConfigSnapshot;
  const used = (model: string) =>
    ({ index: 0, model, name: model, prompt_tokens: 10, completion_tokens: 2, total_tokens: 12 }) as ModelUsage;

  it('returns the sum over all models', () => {
    expect(computeUsd(snapshot, [used('priced'), used('priced')])).toBeCloseTo(0.06);
  });

  it.each([[[]], [[used('free')]], [[used('priced'), used('gone')]]])('returns undefined for %j', (usage) => {
    expect(computeUsd(snapshot, usage)).toBeUndefined();
  });
});
