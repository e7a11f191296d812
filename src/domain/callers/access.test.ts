import { describe, expect, it } from 'vitest';
import type { Deployment } from '../deployments/deployment.ts';
import { canTrace } from './access.ts';
import type { Caller } from './caller.ts';
import { HeldRights } from './held-rights.ts';

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
