import { describe, expect, it } from 'vitest';
import { checkConfiguration } from '#configuration/check.ts';

const settings = { temperature: 0, instructions: '', model: 'm' };
const rest = (tool: object, more: object = {}) => ({
  web_api_toolset: [{ type: 'rest-api', name: 'r', tools: [tool], ...more }],
});
const info = { method_url: 'https://r.example/{id}', method_type: 'get' };
const callable = { type: 'function', function: { name: 'f', description: '', parameters: {} } };
const restTool = { rest_api_method_info: info, open_ai_tool: callable };
const withParameter = (property: object) => ({
  ...restTool,
  open_ai_tool: { type: 'function', function: { name: 'f', description: '', parameters: { properties: { p: property } } } },
});
const mcp = (server: object, more: object = {}) => ({
  mcp_toolset: [{ type: 'mcp', name: 'm', mcp_server_info: { url: 'https://m.example/', protocol: 'sse', ...server }, ...more }],
});
const endpoint = { name: 'f', method_url: 'https://o.example/', method_type: 'get', description: '', parameters: [] };
const obsolete = (change: object, auth_info: unknown = null) => ({
  web_api_toolset: [{ tool_endpoints: [{ ...endpoint, ...change }], auth_info }],
});
const obsoleteParameter = { name: 'p', description: '', parameter_type: 'string' };
const client = (change: object) => ({ client_toolset: [{ name: 'f', description: '', parameters: [], ...change }] });
const conditions = (...all: object[]) => ({ applications_as_tools: [{ conditions: all }] });
const equal = { condition_type: 'eq', property_name: 'id', const: 'x' };

/** Returns the errors of the settings. Paths start at the settings. */
function findErrors(properties: unknown): string[] {
  const entry = { applicationTypeSchemaId: 'x/custom_application_schemas/quickapps', applicationProperties: properties };
  const models = { m: { upstreams: [{ protocol: 'demo' }] } };
  const checked = checkConfiguration({ models, applications: { a: entry }, keys: {} });
  if (!('errors' in checked)) return [];
  const at = 'applications.a.applicationProperties';
  return checked.errors.map(
    ({ path, message, hint }) =>
      `${path.replace(at, '').replace(/^\./, '')}: ${message}${hint === undefined ? '' : ` (${hint})`}`,
  );
}

describe('QuickAppForm', () => {
  it.each<[string, object]>([
    ['only the required settings', {}],
    ['a temperature of 1', { temperature: 1 }],
    ['starters', { starters: ['Hello'] }],
    ['deployments as tools', { applications_as_tools: ['not-there-yet', { conditions: [equal] }] }],
    ['every condition', conditions(equal, { condition_type: 'match', property_name: 'description', expression: '^a.*b$' })],
    ['an application condition with true', conditions({ ...equal, property_name: 'application', const: true })],
    ['a client tool', client({ parameters: [{ name: 'p', description: '', parameter_type: 'integer' }] })],
    ['a web API', rest(restTool)],
    ['a method in capitals', rest({ ...restTool, rest_api_method_info: { ...info, method_type: 'PATCH' } })],
    ['an authorization that is null', rest(restTool, { authorization: null })],
    ['a key', rest(restTool, { authorization: { type: 'api_key', key: 'k', name: 'n', location: 'header' } })],
    ['a parameter with a location', rest(withParameter({ type: 'string', parameter_info: { type: 'query', key: 'q' } }))],
    ['a constant with the type null', rest(withParameter({ type: null, const: 7, parameter_info: { type: 'header' } }))],
    ['a web API in the obsolete form', obsolete({ parameters: [{ ...obsoleteParameter, constant_value: null }] })],
    ['an obsolete key', obsolete({}, { auth_type: 'apikey', api_key: 'k', url_param: true })],
    ['both forms of web APIs', { web_api_toolset: [...rest(restTool).web_api_toolset, ...obsolete({}).web_api_toolset] }],
    ['more web APIs', { web_api_toolset_alternative: rest(restTool).web_api_toolset }],
    ['an MCP server', mcp({}, { allowed_tools: ['a'] })],
    ['an MCP server with resources and prompts', mcp({}, { resources: true, prompts: true })],
    ['an MCP server over HTTP', mcp({ protocol: 'streamable_http', authorization: null })],
    ['one document', { document_relative_url: 'files/bucket/a%20b.pdf' }],
    ['several documents', { document_relative_url: ['files/bucket/a.txt', 'files/bucket/b.txt'] }],
  ])('accepts %s', (_what, change) => {
    expect(findErrors({ ...settings, ...change })).toEqual([]);
  });

  it.each<[string, unknown, string[]]>([
    ['settings without the required keys', {}, ['instructions: is missing', 'model: is missing', 'temperature: is missing']],
    ['a list', [], [': must be an object, but is a list']],
    ['a temperature below 0', { ...settings, temperature: -0.1 }, ['temperature: must be 0 or more']],
    ['a temperature above 1', { ...settings, temperature: 1.01 }, ['temperature: must be 1 or less']],
    ['a temperature as a string', { ...settings, temperature: '1' }, ['temperature: must be a number, but is a string']],
    ['an unknown model', { ...settings, model: 'n' }, ['model: names "n", a deployment that is not configured']],
    ['an empty model', { ...settings, model: '' }, ['model: must not be empty']],
    ['an unknown key', { ...settings, starter: [] }, ['starter: is not a known key (did you mean starters?)']],
    [
      'invalid starters',
      { ...settings, starters: ['', 1] },
      ['starters[0]: must not be empty', 'starters[1]: must be a string, but is a number'],
    ],
    [
      'a tool that is a number',
      { ...settings, applications_as_tools: [1] },
      ['applications_as_tools[0]: must be a string or an object, but is a number'],
    ],
    [
      'an empty list of conditions',
      { ...settings, ...conditions() },
      ['applications_as_tools[0].conditions: must have at least one item'],
    ],
    [
      'a condition of another kind',
      { ...settings, ...conditions({ ...equal, condition_type: 'equal' }) },
      ['applications_as_tools[0].conditions[0].condition_type: must be one of eq, match'],
    ],
    [
      'a property that cannot be matched',
      { ...settings, ...conditions({ ...equal, property_name: 'owner' }) },
      ['applications_as_tools[0].conditions[0].property_name: must be one of id, display_name, description, application'],
    ],
    [
      'an invalid expression',
      { ...settings, ...conditions({ condition_type: 'match', property_name: 'id', expression: '(?=a)' }) },
      [
        'applications_as_tools[0].conditions[0].expression: must be a regular expression in the syntax of RE2, which has no look-around and no back-references: error parsing regexp: invalid or unsupported Perl syntax: `(?=`',
      ],
    ],
    [
      'a client tool with a space',
      { ...settings, ...client({ name: 'a b' }) },
      ['client_toolset[0].name: must be 1 to 64 letters, digits, _ or -'],
    ],
    [
      'a client tool of 65 letters',
      { ...settings, ...client({ name: 'x'.repeat(65) }) },
      ['client_toolset[0].name: must be 1 to 64 letters, digits, _ or -'],
    ],
    [
      'an unknown data type',
      { ...settings, ...client({ parameters: [{ ...obsoleteParameter, parameter_type: 'text' }] }) },
      ['client_toolset[0].parameters[0].parameter_type: must be one of string, number, integer, boolean, object, array'],
    ],
    [
      'a client tool without parameters',
      { ...settings, ...client({ parameters: undefined }) },
      ['client_toolset[0].parameters: is missing'],
    ],
    [
      'an unknown method',
      { ...settings, ...rest({ ...restTool, rest_api_method_info: { ...info, method_type: 'fetch' } }) },
      ['web_api_toolset[0].tools[0].rest_api_method_info.method_type: must be one of get, post, put, patch, delete'],
    ],
    [
      'a method that the obsolete form does not have',
      { ...settings, ...obsolete({ method_type: 'patch' }) },
      ['web_api_toolset[0].tool_endpoints[0].method_type: must be one of get, post, put, delete'],
    ],
    [
      'a relative URL',
      { ...settings, ...rest({ ...restTool, rest_api_method_info: { ...info, method_url: '/x' } }) },
      ['web_api_toolset[0].tools[0].rest_api_method_info.method_url: must be an address that begins with http:// or https://'],
    ],
    [
      'an unknown parameter location',
      { ...settings, ...rest(withParameter({ parameter_info: { type: 'cookie' } })) },
      [
        'web_api_toolset[0].tools[0].open_ai_tool.function.parameters.properties.p.parameter_info.type: must be one of query, path, url, header, body, whole_body',
      ],
    ],
    [
      'an authorization of another kind',
      { ...settings, ...rest(restTool, { authorization: { type: 'apikey', key: 'canary' } }) },
      ['web_api_toolset[0].authorization.type: must be one of api_key, basic, bearer, client_id_secret (did you mean api_key?)'],
    ],
    [
      'an authorization without its token',
      { ...settings, ...rest(restTool, { authorization: { type: 'bearer' } }) },
      ['web_api_toolset[0].authorization.token: is missing'],
    ],
    [
      'a toolset without a name',
      { ...settings, web_api_toolset: [{ type: 'rest-api', tools: [] }] },
      ['web_api_toolset[0].name: is missing'],
    ],
    [
      'an obsolete form without auth_info',
      { ...settings, web_api_toolset: [{ tool_endpoints: [] }] },
      ['web_api_toolset[0].auth_info: is missing'],
    ],
    [
      'an obsolete key of another kind',
      { ...settings, ...obsolete({}, { auth_type: 'api_key', api_key: 'canary' }) },
      ['web_api_toolset[0].auth_info.auth_type: must be "apikey"'],
    ],
    [
      'an MCP server over stdio',
      { ...settings, ...mcp({ protocol: 'stdio' }) },
      ['mcp_toolset[0].mcp_server_info.protocol: must be one of streamable_http, sse'],
    ],
    [
      'a string for a boolean',
      { ...settings, ...mcp({}, { resources: 'yes' }) },
      ['mcp_toolset[0].resources: must be true or false, but is a string'],
    ],
    [
      'an MCP key in the query',
      { ...settings, ...mcp({ authorization: { type: 'api_key', key: 'canary', name: 'n', location: 'query' } }) },
      ['mcp_toolset[0].mcp_server_info.authorization.location: is not a known key'],
    ],
    [
      'a document on another server',
      { ...settings, document_relative_url: 'https://x.example/a.pdf' },
      ['document_relative_url: must be the reference of a stored file, such as files/<bucket>/<path>'],
    ],
    [
      'one invalid document among several',
      { ...settings, document_relative_url: ['files/b/a.txt', 'files/b/'] },
      ['document_relative_url[1]: must be the reference of a stored file, such as files/<bucket>/<path>'],
    ],
  ])('rejects %s', (_what, properties, errors) => {
    expect(findErrors(properties)).toEqual(errors);
  });

  it('reports errors without secrets', () => {
    const properties = {
      ...settings,
      ...rest(restTool, { authorization: { type: 'bearer', token: 'canary\n', nonsense: 'canary' } }),
    };
    const errors = findErrors(properties);
    expect(errors).toHaveLength(2);
    expect(errors.join()).not.toContain('canary');
  });
});
