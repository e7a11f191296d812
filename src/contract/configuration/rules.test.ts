import { expect, it } from 'vitest';
import { checkConfiguration } from '#configuration/check.ts';
import { formatConfigurationError } from './checked-configuration.ts';

const demo = { m: { upstreams: [{ protocol: 'demo' }] } };
const good = { issuer: 'https://id.example', audience: 'api' };

function findErrors(identityProviders: object): readonly string[] {
  const checked = checkConfiguration({ identityProviders });
  return 'errors' in checked ? checked.errors.map(formatConfigurationError) : [];
}

it.each([
  ['an https address', { ...good }],
  ['an https address with a path and a slash', { ...good, issuer: 'https://id.example/realms/a/' }],
  ['an address of this machine', { ...good, issuer: 'http://localhost:8081', jwksUrl: 'http://127.0.0.1:8081/keys' }],
  ['an address of this machine in IPv6', { ...good, issuer: 'http://[::1]:8081' }],
  ['keys at an address with a query', { ...good, jwksUrl: 'https://id.example/keys?policy=a' }],
  ['claims that are addresses', { ...good, userIdClaim: 'https://id.example/user', rolesClaim: 'https://id.example/roles' }],
  ['a sign-in option', { ...good, signIn: { clientId: 'page' } }],
  [
    'a sign-in option with all settings',
    {
      ...good,
      signIn: {
        ...{ clientId: 'page', displayName: 'Corp', scopes: ['openid', 'offline_access'], token: 'id_token' },
        parameters: { audience: 'api', prompt: 'login' },
        authorizationEndpoint: 'https://id.example/authorize?tenant=a',
        tokenEndpoint: 'https://id.example/token',
        endSessionEndpoint: 'https://id.example/logout',
        revocationEndpoint: 'https://id.example/revoke',
      },
    },
  ],
  ['dotted paths', { ...good, userIdClaim: 'profile.id', rolesClaim: 'realm_access.roles' }],
])('findIdentityProviderIssues accepts %s', (_what, entry) => {
  expect(findErrors({ p: entry })).toEqual([]);
});

const insecureUrlError = 'must be an https:// address without user name and password, or an http:// address of this machine';
const claimError = 'must be a claim or a dotted path of claims, without empty claims or spaces around them';

it.each([
  ['no issuer', { audience: 'api' }, ['identityProviders.p.issuer: is missing']],
  ['an empty issuer', { ...good, issuer: '' }, ['identityProviders.p.issuer: must not be empty']],
  ['an issuer that is not a URL', { ...good, issuer: 'id.example' }, [`identityProviders.p.issuer: ${insecureUrlError}`]],
  ['an issuer over http', { ...good, issuer: 'http://id.example' }, [`identityProviders.p.issuer: ${insecureUrlError}`]],
  [
    'an issuer whose host only starts with localhost',
    { ...good, issuer: 'http://localhost.example' },
    [`identityProviders.p.issuer: ${insecureUrlError}`],
  ],
  [
    'an issuer with a password',
    { ...good, issuer: 'https://a:b@id.example' },
    [`identityProviders.p.issuer: ${insecureUrlError}`],
  ],
  ['keys over http', { ...good, jwksUrl: 'http://10.0.0.1/keys' }, [`identityProviders.p.jwksUrl: ${insecureUrlError}`]],
  ['keys in a file', { ...good, jwksUrl: 'file:///keys' }, [`identityProviders.p.jwksUrl: ${insecureUrlError}`]],
  ['an empty audience', { ...good, audience: '' }, ['identityProviders.p.audience: must not be empty']],
  ['an empty user claim', { ...good, userIdClaim: '' }, ['identityProviders.p.userIdClaim: must not be empty']],
  ['a blank roles claim', { ...good, rolesClaim: ' ' }, [`identityProviders.p.rolesClaim: ${claimError}`]],
  [
    'a path with an empty part',
    { ...good, rolesClaim: 'realm_access..roles' },
    [`identityProviders.p.rolesClaim: ${claimError}`],
  ],
  ['a path that ends in a dot', { ...good, userIdClaim: 'sub.' }, [`identityProviders.p.userIdClaim: ${claimError}`]],
  ['a sign-in option without a client', { ...good, signIn: {} }, ['identityProviders.p.signIn.clientId: is missing']],
  [
    'a secret of its client',
    { ...good, signIn: { clientId: 'page', clientSecret: 's' } },
    [expect.stringContaining('identityProviders.p.signIn.clientSecret: is not a known key')],
  ],
  [
    'a token endpoint over http',
    { ...good, signIn: { clientId: 'page', tokenEndpoint: 'http://id.example/token' } },
    [`identityProviders.p.signIn.tokenEndpoint: ${insecureUrlError}`],
  ],
  [
    'parameters that the page sets',
    { ...good, signIn: { clientId: 'page', parameters: { state: 'x', code_challenge_method: 'plain' } } },
    [
      'identityProviders.p.signIn.parameters.state: is set by the page',
      'identityProviders.p.signIn.parameters.code_challenge_method: is set by the page',
    ],
  ],
  [
    'an id_token without the scope for it',
    { ...good, signIn: { clientId: 'page', token: 'id_token', scopes: ['use'] } },
    ['identityProviders.p.signIn.scopes: must contain openid, because the provider issues no id_token without it'],
  ],
  [
    'an introspection endpoint over http, without a client',
    { ...good, introspection: { url: 'http://id.example/introspect', cacheSeconds: 3601 } },
    [
      'identityProviders.p.introspection.clientId: is missing',
      'identityProviders.p.introspection.clientSecret: is missing',
      `identityProviders.p.introspection.url: ${insecureUrlError}`,
      'identityProviders.p.introspection.cacheSeconds: must be 3600 or less',
    ],
  ],
  ['an unknown key', { ...good, algorithms: ['none'] }, ['identityProviders.p.algorithms: is not a known key']],
])('findIdentityProviderIssues rejects %s', (_what, entry, errors) => {
  expect(findErrors({ p: entry })).toEqual(errors);
});

it('findConfigurationWarnings reports an id_token for another audience', () => {
  const listWarningsFor = (audience: string, token: string): readonly string[] => {
    const signIn = { clientId: 'page', token };
    const checked = checkConfiguration({ models: demo, identityProviders: { p: { ...good, audience, signIn } } });
    return 'warnings' in checked ? checked.warnings.map(formatConfigurationError) : ['refused'];
  };
  expect(listWarningsFor('api', 'id_token')).toEqual([
    expect.stringContaining('identityProviders.p.audience: is not the clientId of signIn'),
  ]);
  expect([listWarningsFor('page', 'id_token'), listWarningsFor('api', 'access_token')]).toEqual([[], []]);
});

it('findIdentityProviderIssues rejects a repeated issuer', () => {
  expect(findErrors({ p: good, q: { ...good, issuer: 'https://id.example/' }, r: { ...good, audience: 'other' } })).toEqual([
    'identityProviders.r.issuer: is also the issuer of another entry',
  ]);
});

it('findIdentityProviderIssues rejects a name that consists of digits', () => {
  expect(findErrors({ p: good, 7: { ...good, issuer: 'https://seven.example' } })).toEqual([
    expect.stringContaining('is not a valid name: it has only digits, which changes the order of the providers. Add a letter'),
  ]);
});

function listPageErrors(page: object): readonly string[] {
  const checked = checkConfiguration({ models: demo, keys: { 'a-key': { project: 'p' } }, page });
  return [...('errors' in checked ? checked.errors : []), ...checked.warnings].map(({ path, message }) => `${path} ${message}`);
}

it('checkConfiguration rejects multi-line names, invalid pictures, and named colors', () => {
  expect(listPageErrors({ name: 'Acme\nCorp' })).toEqual(['page.name must be one line without spaces around it']);
  expect(listPageErrors({ accent: 'blue' })).toEqual(['page.accent must be a color such as #0b57d0']);
  expect(listPageErrors({ logo: 'data:text/html;base64,AAAA' })).toEqual([
    expect.stringContaining('page.logo must be a file name, or a base64 data: URL'),
  ]);
});

it('findConfigurationWarnings reports an accent that is illegible in the light theme', () => {
  expect(listPageErrors({ accent: '#ffdd00' })).toEqual([
    expect.stringMatching(/^page.accent is too pale for the light theme, which uses #[0-9a-f]{6} instead$/),
  ]);
  expect(listPageErrors({ accent: '#0B57D0', name: 'Acme', notice: 'Two\nlines' })).toEqual([]);
});

it.each([
  [{ contentRetentionDays: 7, retentionDays: 7 }, []],
  [{ contentRetentionDays: 30 }, []],
  [{ contentRetentionDays: 8, retentionDays: 7 }, ['records.contentRetentionDays: must be at most retentionDays, which is 7']],
])('findRecordIssues compares the retention of content with the retention of the records: %j', (records, errors) => {
  const checked = checkConfiguration({ records });
  expect('errors' in checked ? checked.errors.map(({ path, message }) => `${path}: ${message}`) : []).toEqual(errors);
});
