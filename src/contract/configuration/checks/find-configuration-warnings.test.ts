import { describe, expect, it } from 'vitest';
import { checkConfiguration } from '#configuration/check.ts';
import { formatConfigurationError } from '#contract/configuration/checked-configuration.ts';
import { formatPath } from '../issue.ts';
import { findConfigurationWarnings } from './find-configuration-warnings.ts';

function listWarnings(value: object): string[] {
  const checked = checkConfiguration(value);
  if ('errors' in checked) throw new Error('the configuration has errors');
  return [...findConfigurationWarnings(checked.configuration, Date.now())].map(({ path, message, hint }) =>
    formatConfigurationError({ file: '', path: formatPath(path), message, ...(hint !== undefined && { hint }) }),
  );
}

const quickApps = 'https://any.example/custom_application_schemas/quickapps';
const isApplication = { condition_type: 'eq', property_name: 'application', const: true };
const someKey = { 'a-key': { project: 'p' } };
const demo = { upstreams: [{ protocol: 'demo' }] };

describe('findConfigurationWarnings', () => {
  it('warns about a configuration without models and callers', () => {
    expect(listWarnings({})).toEqual([
      'models: is empty, so Parley serves no models or applications',
      'keys: is empty, and there are no identityProviders, so no client can call Parley',
    ]);
  });

  it('warns about a model whose upstreams all have weight 0', () => {
    const value = { models: { m: { upstreams: [{ protocol: 'demo', weight: 0 }] } }, keys: { 'a-key': { project: 'p' } } };
    expect(listWarnings(value)).toEqual(['models.m.upstreams: all have a weight of 0, so Parley never calls them']);
  });

  it('warns about a model of the Anthropic protocol without limits.maxCompletionTokens', () => {
    const upstreams = [{ protocol: 'anthropic', endpoint: 'https://api.example/v1', key: 'k' }];
    const warningsOf = (fields: object) => listWarnings({ models: { m: { upstreams, ...fields } }, keys: someKey });
    expect(warningsOf({})).toEqual([
      'models.m.limits.maxCompletionTokens: is missing, so a reply ends after 4096 tokens if the request has no max_tokens. Write how many tokens the model can reply with',
    ]);
    expect(warningsOf({ limits: { maxCompletionTokens: 64_000 } })).toEqual([]);
    expect(warningsOf({ defaults: { max_tokens: 8000 } })).toEqual([]);
    expect(warningsOf({ defaults: { max_completion_tokens: 8000 } })).toEqual([]);
  });

  it('warns about a Claude model of Vertex AI without limits.maxCompletionTokens', () => {
    const upstream = { protocol: 'vertex', endpoint: 'https://host/v1/projects/p/locations/l/publishers' };
    const warningsOf = (model: string) =>
      listWarnings({ models: { m: { upstreams: [{ ...upstream, model }] } }, keys: someKey }).filter((each) =>
        each.includes('4096'),
      );
    expect(warningsOf('claude-opus-4')).toHaveLength(1);
    expect(warningsOf('gemini-2.5-pro')).toEqual([]);
  });

  it('warns about a quick app with a document that has no text', () => {
    const app = (document_relative_url: unknown) => ({
      applicationTypeSchemaId: quickApps,
      applicationProperties: { model: 'm', temperature: 0, instructions: 'Help.', document_relative_url },
    });
    const applications = { one: app('files/b/photo.png'), list: app(['files/b/a.pdf', 'files/b/old.doc']) };
    const problem = 'names a file of a type that cannot be searched. Use PDF, docx, xlsx, pptx, or text';
    expect(listWarnings({ models: { m: demo }, keys: someKey, applications })).toEqual([
      `applications.one.applicationProperties.document_relative_url: ${problem}`,
      `applications.list.applicationProperties.document_relative_url[1]: ${problem}`,
    ]);
  });

  it('warns about selfService without identity providers', () => {
    const value = { models: { m: demo }, keys: someKey, roles: { staff: { selfService: { keys: 1, maxDays: 1 } } } };
    expect(listWarnings(value)).toEqual([
      'roles.staff.selfService: has no effect without identityProviders, because only signed-in users can create keys',
    ]);
    const identityProviders = { sso: { issuer: 'https://sso.example', audience: 'parley' } };
    expect(listWarnings({ ...value, identityProviders })).toEqual([]);
  });

  it('warns about a costLimit that a model without prices never reaches', () => {
    const priced = { upstreams: [{ endpoint: 'http://x/v1' }], pricing: { prompt: 0.000003 } };
    const free = { upstreams: [{ endpoint: 'http://x/v1' }], pricing: {} };
    const models = { priced, free, demo, unpriced: { upstreams: [{ endpoint: 'http://x/v1' }] } };
    const value = { models, keys: someKey, roles: { default: { costLimit: { month: 5 } } } };
    expect(listWarnings(value)).toEqual([
      'models.unpriced.pricing: is missing, so calls to this model cost 0 and do not count toward the costLimit of the role default. Write "pricing": {} if the model is free',
    ]);
    expect(listWarnings({ ...value, roles: { default: { costLimit: {} } } })).toEqual([]);
  });

  it('warns about prices that look like prices per million tokens', () => {
    const pricing = { request: 3, prompt: 3, completion: 0.000015, cacheRead: 0.3, cacheWrite: 0.0099 };
    expect(listWarnings({ models: { m: { ...demo, pricing } }, keys: someKey })).toEqual([
      'models.m.pricing.prompt: is 3 USD for one token. Write 0.000003 for 3 USD per million tokens',
      'models.m.pricing.cacheRead: is 0.3 USD for one token. Write 0.0000003 for 0.3 USD per million tokens',
    ]);
  });

  it('warns about negative limits, which give no access', () => {
    const roles = { default: { limits: { '*': { minute: -1, day: 0 } }, costLimit: { month: -5 } } };
    expect(listWarnings({ models: { demo }, keys: someKey, roles })).toEqual([
      'roles.default.costLimit.month: is negative and gives no access. Leave it out for no limit',
      'roles.default.limits["*"].minute: is negative and gives no access. Leave it out for no limit',
    ]);
  });

  it('warns about a quick app that is its own model', () => {
    const applicationProperties = { instructions: '', model: 'a', temperature: 0 };
    const applications = { a: { applicationTypeSchemaId: quickApps, applicationProperties } };
    expect(listWarnings({ models: { demo }, keys: someKey, applications })).toEqual([
      'applications.a.applicationProperties.model: is the application itself, so every call ends with an error. Name a model',
    ]);
  });

  it('warns about an apiVersion that the protocol ignores', () => {
    const upstreams = [{ endpoint: 'http://x/v1', apiVersion: '2024-10-21' }];
    expect(listWarnings({ models: { m: { upstreams } }, keys: someKey })).toEqual([
      'models.m.upstreams[0].apiVersion: has no effect with the protocol openai. For Azure OpenAI, write "protocol": "azure"',
    ]);
  });

  it('returns no warnings for a model with a key', () => {
    expect(listWarnings({ models: { m: demo }, keys: { 'a-key': { project: 'p' } } })).toEqual([]);
  });

  it('warns about missing tools of a quick app, except those that can be created through the API', () => {
    const applicationProperties = {
      ...{ instructions: '', model: 'm', temperature: 0 },
      applications_as_tools: ['m', 'gone', 'applications/b/x', { conditions: [isApplication] }, 'pest'],
    };
    const applications = { pets: { endpoint: 'http://x' }, a: { applicationTypeSchemaId: quickApps, applicationProperties } };
    const tools = 'applications.a.applicationProperties.applications_as_tools';
    expect(listWarnings({ models: { m: demo }, applications, keys: someKey })).toEqual([
      `${tools}[1]: names "gone", a deployment that is not configured`,
      `${tools}[4]: names "pest", a deployment that is not configured. Did you mean pets?`,
    ]);
  });

  const entry = (...userRoles: string[]) => ({ ...demo, userRoles });
  const roles = { staff: {} };
  const keys = { one: { project: 'p', role: 'lab' }, two: { project: 'q', roles: ['shop', 'home'] } };
  const message = 'a role that is not in roles and that no key or SCIM group has';

  it('warns about a user role without callers', () => {
    const models = { m: entry('staff', 'lab', 'shop', 'home', 'default'), n: entry('stafff', 'guests') };
    const applications = { a: { endpoint: 'http://x', userRoles: ['hoem'] } };
    expect(listWarnings({ models, applications, roles, keys })).toEqual([
      `models.n.userRoles[0]: names "stafff", ${message}. Did you mean staff?`,
      `models.n.userRoles[1]: names "guests", ${message}`,
      `applications.a.userRoles[0]: names "hoem", ${message}. Did you mean home?`,
    ]);
  });

  it('returns no warning for a user role that a SCIM group has', () => {
    const models = { m: { ...demo, userRoles: ['staff'] } };
    expect(listWarnings({ models, keys: someKey, scim: { groups: { Employees: ['staff'] } } })).toEqual([]);
  });

  it('warns about a SCIM provider that is not configured', () => {
    const identityProviders = { corporate: { issuer: 'https://id.example', audience: 'parley' } };
    const value = { models: { m: demo }, identityProviders, scim: { provider: 'corporat' } };
    expect(listWarnings(value)).toEqual([
      'scim.provider: names "corporat", an identity provider that is not configured. Did you mean corporate?',
    ]);
    expect(listWarnings({ ...value, scim: { provider: 'corporate' } })).toEqual([]);
  });

  it('warns about a misspelled role of a key', () => {
    const misspelledKeys = {
      one: { project: 'p', role: 'staf' },
      two: { project: 'q', roles: ['staff', 'Stafff'] },
      far: { project: 'r', role: 'lab' },
    };
    expect(listWarnings({ models: { m: demo }, roles, keys: misspelledKeys })).toEqual([
      expect.stringMatching(/role: names "staf", a role that is not configured\. Did you mean staff\?$/),
      expect.stringMatching(/roles\[1\]: names "Stafff", a role that is not configured\. Did you mean staff\?$/),
    ]);
  });

  it.each([
    ['that tokens can contain but that looks misspelled', { rolesClaim: 'roles' }, []],
    ['that tokens cannot contain', {}, [`models.m.userRoles[1]: names "guests", ${message}`]],
  ])('warns about a user role %s', (_, claim, others) => {
    const identityProviders = { p: { issuer: 'https://x', audience: 'y', ...claim } };
    expect(listWarnings({ models: { m: entry('stafff', 'guests') }, roles, keys, identityProviders })).toEqual([
      `models.m.userRoles[0]: names "stafff", ${message}. Did you mean staff?`,
      ...others,
    ]);
  });
});
