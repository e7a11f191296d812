import { describe, expect, it } from 'vitest';
import { checkConfiguration } from '#configuration/check.ts';
import { formatConfigurationError } from '#contract/configuration/checked-configuration.ts';

const base = {
  models: { gpt: { upstreams: [{ protocol: 'demo' }] } },
  keys: { ci: { key: 'a-long-key-of-this-test', project: 'search', costLimit: { day: 1 } } },
  projects: { search: { costLimit: { month: 5 }, totals: { day: 10 } } },
  roles: { default: { limits: { '*': { requestDay: 5 } } }, staff: { limits: {} } },
  users: { ada: { totals: { day: 5 } } },
};
const target = { url: 'http://127.0.0.1:9/alerts', secret: 'secret' };

/** Returns the errors, or the warnings about alerts if there are no errors. */
function check(...alerts: readonly object[]): readonly string[] {
  const checked = checkConfiguration({ ...base, alerts: alerts.map((alert) => ({ ...target, ...alert })) });
  const issues = 'errors' in checked ? checked.errors : checked.warnings;
  return issues.filter(({ path }) => path.startsWith('alerts')).map(formatConfigurationError);
}

describe('configuration of alerts', () => {
  it.each([
    ['project:search', 'cost.month'],
    ['project:search', 'tokens.day'],
    ['key:ci', 'cost.day'],
    ['role:staff', 'requests.day:gpt'],
    ['role:default', 'requests.day:*'],
    ['*', 'requests.day:gpt'],
    ['*', 'tokens.day'],
    ['user:ada', 'tokens.day'],
  ])('accepts the limit of %s for %s', (of, window) => {
    expect(check({ of, window })).toEqual([]);
  });

  it.each([
    [
      { of: 'project:serch', window: 'cost.month' },
      'alerts[0].of: names "serch", a project that is not configured. Did you mean search?',
    ],
    [{ of: 'key:cd', window: 'cost.day' }, 'alerts[0].of: names "cd", a key that is not configured'],
    [{ of: 'role:admins', window: 'requests.day:gpt' }, 'alerts[0].of: names "admins", a role that is not configured'],
    [
      { of: '*', window: 'requests.day:gtp' },
      'alerts[0].window: names "gtp", a deployment that is not configured. Did you mean gpt?',
    ],
    [
      { of: 'project:search', window: 'cost.year' },
      'alerts[0].window: refers to a limit that project:search does not have. Set this limit, for example costLimit.year',
    ],
    [
      { of: 'role:staff', window: 'requests.day' },
      'alerts[0].window: refers to a limit that role:staff does not have. Set this limit, for example a deployment after the window, such as tokens.day:*',
    ],
  ])('warns about %j, which is never sent', (alert, warning) => {
    expect(check(alert)).toEqual([warning]);
  });

  it('rejects invalid values with their paths', () => {
    const valid = { of: 'project:search', window: 'cost.month' };
    expect(check({ ...valid, of: 'team:x' })).toEqual([
      'alerts[0].of: must be *, or a name after project:, key:, role:, user:, such as project:search',
    ]);
    expect(check({ ...valid, window: 'cost.day:gpt' })).toEqual([
      'alerts[0].window: must be one of cost.day, cost.week, cost.month, cost.year, or one of tokens.minute, tokens.day, tokens.week, tokens.month, requests.minute, requests.hour, requests.day, optionally with a deployment, such as tokens.day:gpt',
    ]);
    expect(check({ ...valid, at: [0.5, 1.5] })).toEqual([expect.stringMatching(/^alerts\[0\]\.at\[1\]: must be/)]);
    expect(check({ ...valid, at: [1, 1] })).toEqual(['alerts[0].at: must not name a value twice']);
    expect(check({ ...valid, at: [] })).toEqual([expect.stringMatching(/^alerts\[0\]\.at: /)]);
    expect(check({ ...valid, secret: 'whsec_short' })).toEqual([
      'alerts[0].secret: must have 24 to 64 bytes in base64 after whsec_',
    ]);
    expect(check({ ...valid, url: 'ftp://x' })).toEqual([expect.stringMatching(/^alerts\[0\]\.url: must be an address/)]);
    expect(check(valid, valid)).toEqual([
      'alerts[1]: has the same `of`, `window`, and `url` as another alert. List all thresholds in `at` of one alert',
    ]);
  });
});
