import fc from 'fast-check';
import '#test/same-cases.ts';
import { describe, expect, it } from 'vitest';
import type { Configuration } from '#contract/configuration/configuration.ts';
import { LimitRules, RoleLimits } from './limits.ts';
import { toStatsName } from './windows.ts';

type Roles = Configuration['roles'];

/** Returns the totals of the applicable limits by the names of their windows. */
function findTotals(roles: Roles, of: readonly string[], deployment = 'm'): Record<string, number> {
  const limits = new RoleLimits(roles).find(of, deployment);
  return Object.fromEntries(limits.map(({ window, total }) => [toStatsName(window), total]));
}

describe('RoleLimits', () => {
  it("uses the role's entry for the deployment, otherwise its entry for all deployments", () => {
    const roles: Roles = { user: { limits: { m: { minute: 10 }, '*': { minute: 20, requestDay: 5 } } } };
    expect(findTotals(roles, ['user'], 'm')).toEqual({ minuteTokenStats: 10 });
    expect(findTotals(roles, ['user'], 'other')).toEqual({ minuteTokenStats: 20, dayRequestStats: 5 });
  });

  it('sets no limits if the role has no entries', () => {
    expect(findTotals({ user: { limits: {} } }, ['user'])).toEqual({});
    expect(findTotals({ user: { limits: { other: { minute: 1 } } } }, ['user'])).toEqual({});
    expect(findTotals({}, ['user'])).toEqual({});
  });

  it('falls back to the default role if a role is unknown or the caller has no roles', () => {
    const roles: Roles = { default: { limits: { m: { day: 7 } } }, user: { limits: { m: { day: 3 } } } };
    expect(findTotals(roles, ['unknown'])).toEqual({ dayTokenStats: 7 });
    expect(findTotals(roles, [])).toEqual({ dayTokenStats: 7 });
    expect(findTotals(roles, ['user'])).toEqual({ dayTokenStats: 3 });
    expect(findTotals(roles, ['user', 'unknown'])).toEqual({ dayTokenStats: 7 });
  });

  it('falls back to the default role for each entry that a role lacks', () => {
    const roles: Roles = {
      default: { limits: { m: { requestDay: 1 }, '*': { requestDay: 9 } }, costLimit: { day: 3 } },
      guest: { limits: { c: { requestDay: 2 } } },
      host: { limits: { '*': {} }, costLimit: {} },
    };
    expect(findTotals(roles, ['guest'], 'm')).toEqual({ dayRequestStats: 1, dayCostStats: 3e9 });
    expect(findTotals(roles, ['guest'], 'c')).toEqual({ dayRequestStats: 2, dayCostStats: 3e9 });
    expect(findTotals(roles, ['guest'], 'x')).toEqual({ dayRequestStats: 9, dayCostStats: 3e9 });
    expect(findTotals(roles, ['host'], 'm')).toEqual({});
  });

  it('ignores an unknown role if no default role is configured', () => {
    expect(findTotals({ user: { limits: { m: { day: 3 } } } }, ['unknown', 'user', 'constructor', '__proto__'])).toEqual({
      dayTokenStats: 3,
    });
  });

  it('uses the most generous limit of all roles in each window, and no limit if a role has none', () => {
    const roles: Roles = {
      one: { limits: { m: { minute: 10, day: 100, requestHour: 9 } }, costLimit: { day: 2 } },
      two: { limits: { m: { minute: 20, day: 50, week: 1 } }, costLimit: { day: 1.5, month: 4 } },
    };
    const expected = { minuteTokenStats: 20, dayTokenStats: 100, dayCostStats: 2e9 };
    expect(findTotals(roles, ['one', 'two'])).toEqual(expected);
    expect(findTotals(roles, ['two', 'one'])).toEqual(expected);
    expect(findTotals({ ...roles, free: { limits: {} } }, ['one', 'two', 'free'])).toEqual({});
  });

  it('applies cost limits to every deployment, in billionths of a USD', () => {
    const roles: Roles = { user: { limits: { m: { minute: 1 } }, costLimit: { day: 0.3, week: 1, month: 2.000000001 } } };
    const cost = { dayCostStats: 300_000_000, weekCostStats: 1e9, monthCostStats: 2_000_000_001 };
    expect(findTotals(roles, ['user'], 'm')).toEqual({ minuteTokenStats: 1, ...cost });
    expect(findTotals(roles, ['user'], 'other')).toEqual(cost);
  });

  it('denies access if a limit is 0 or less, unless another role is more generous', () => {
    const roles: Roles = {
      none: { limits: { m: { minute: 0 } } },
      debt: { limits: {}, costLimit: { day: -1 } },
      some: { limits: { m: { minute: 1 } } },
    };
    const rest = { projects: {}, users: {}, keys: {}, limitResets: {} };
    // A list of deployments asks for each of them, so the alerts are not searched.
    const rules = new LimitRules({ roles, ...rest }, () => {
      throw new Error('the alerts are not needed');
    });
    const findDenying = (of: readonly string[], deployment: string) =>
      rules.findDenying({ subject: 'ada', project: 'p', roles: of }, deployment);
    expect(findDenying(['none'], 'm')).toMatchObject({ total: 0 });
    expect(findDenying(['debt'], 'm')).toMatchObject({ total: -1e9 });
    expect(findDenying(['none', 'some'], 'm')).toBeUndefined();
    expect(findDenying(['none'], 'other')).toBeUndefined();
  });

  it('does not depend on the order of roles, and never becomes stricter with another role', () => {
    const limit = fc.record({ minute: fc.integer(), day: fc.integer(), requestDay: fc.integer() }, { requiredKeys: [] });
    const entry = fc.record({ limits: fc.dictionary(fc.constantFrom('m', '*'), limit) });
    const configured = fc.dictionary(fc.constantFrom('a', 'b', 'c', 'default'), entry);
    const heldRoles = fc.uniqueArray(fc.constantFrom('a', 'b', 'c', 'default'), { minLength: 1 });
    fc.assert(
      fc.property(configured, heldRoles, fc.constantFrom('a', 'b', 'c'), (roles, of, more) => {
        const configuredRoles = roles as Roles;
        const now = findTotals(configuredRoles, of);
        expect(findTotals(configuredRoles, of.toReversed())).toEqual(now);
        const isKnown = Object.hasOwn(roles, more) || Object.hasOwn(roles, 'default');
        const wasKnown = of.some((role) => Object.hasOwn(roles, role)) || Object.hasOwn(roles, 'default');
        if (!isKnown || !wasKnown) return;
        for (const [window, total] of Object.entries(findTotals(configuredRoles, [...of, more])))
          expect(total).toBeGreaterThanOrEqual(now[window] ?? Number.POSITIVE_INFINITY);
      }),
    );
  });
});
