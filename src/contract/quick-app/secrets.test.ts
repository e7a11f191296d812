import { describe, expect, it } from 'vitest';
import type { JsonObject } from '#base/json/json.ts';
import { maskSecrets, restoreSecrets } from './secrets.ts';

const server = (name: string, token: string) => ({
  type: 'mcp',
  name,
  mcp_server_info: { url: 'https://mcp.test', protocol: 'sse', authorization: { type: 'bearer', token } },
});

const app = (...mcp_toolset: unknown[]) => ({ temperature: 0, instructions: '', model: 'm', mcp_toolset });

const obsolete = (api_key: string, method_url?: string) => ({
  temperature: 0,
  instructions: '',
  model: 'm',
  web_api_toolset: [
    { tool_endpoints: method_url === undefined ? [] : [{ method_url }], auth_info: { auth_type: 'apikey', api_key } },
  ],
});

const bearer = (token: string) => ({ type: 'bearer', token });
const client = (client_secret: string, token_url: string) => ({
  type: 'client_id_secret',
  client_id: 'c',
  client_secret,
  token_url,
});

const rest = (authorization: object, method_url?: string) => ({
  temperature: 0,
  instructions: '',
  model: 'm',
  web_api_toolset: [
    {
      ...{ type: 'rest-api', name: 'a', authorization },
      tools: method_url === undefined ? [] : [{ rest_api_method_info: { method_url } }],
    },
  ],
});

describe('secrets of a quick app', () => {
  it.each([
    ['a bearer token', app(server('a', 'canary'))],
    ['the key of an obsolete web API', obsolete('canary')],
    ['the key of a web API', rest({ type: 'api_key', key: 'canary', name: 'k', location: 'query' })],
    ['a password', rest({ type: 'basic', username: 'u', password: 'canary' })],
    ['a client secret', rest({ type: 'client_id_secret', client_id: 'c', client_secret: 'canary', token_url: 'https://t.test' })],
  ])('hides %s', (_name, properties) => {
    const shown = JSON.stringify(maskSecrets(properties));
    expect(shown).not.toContain('canary');
    expect(shown).toContain('***');
  });

  it('keeps other settings unchanged', () => {
    expect(maskSecrets(app(server('a', 'x')))).toEqual(app(server('a', '***')));
  });

  it('restores masked secrets', () => {
    const stored = app(server('a', 'one'), server('b', 'two'));
    expect(restoreSecrets(maskSecrets(stored), stored)).toEqual({ properties: stored, errors: [] });
  });

  it('replaces secrets with new ones', () => {
    expect(restoreSecrets(app(server('a', 'new')), app(server('a', 'old'))).properties).toEqual(app(server('a', 'new')));
  });

  it('matches toolsets by name, not by position', () => {
    const stored = app(server('a', 'one'), server('b', 'two'));
    const { properties } = restoreSecrets(app(server('b', '***'), server('a', '***')), stored);
    expect(properties).toEqual(app(server('b', 'two'), server('a', 'one')));
  });

  it('restores masked secrets if only the path of the server changed', () => {
    const moved = app({
      ...server('a', '***'),
      mcp_server_info: { ...server('a', '***').mcp_server_info, url: 'https://mcp.test/v2' },
    });
    expect(restoreSecrets(moved, app(server('a', 'one'))).errors).toEqual([]);
  });

  it.each<[string, object, object]>([
    [
      'an MCP server',
      app({ ...server('a', '***'), mcp_server_info: { ...server('a', '***').mcp_server_info, url: 'https://evil.test/' } }),
      app(server('a', 'canary')),
    ],
    ['the operations of a web API', rest(bearer('***'), 'https://evil.test/x'), rest(bearer('canary'), 'https://api.test/x')],
    ['the token address', rest(client('***', 'https://evil.test/')), rest(client('canary', 'https://t.test/'))],
    ['an obsolete web API', obsolete('***', 'https://evil.test/'), obsolete('canary', 'https://api.test/')],
  ])('does not send secrets of %s to another origin', (_what, written, stored) => {
    const { errors, properties } = restoreSecrets(written as JsonObject, stored as JsonObject);
    expect(errors).toEqual([
      { path: expect.any(Array), message: 'must be entered again: https://evil.test was not in the toolset when it was saved' },
    ]);
    expect(JSON.stringify(properties)).not.toContain('canary');
  });

  it.each([
    ['no settings are stored', undefined],
    ['the toolset has another name', app(server('other', 'one'))],
    ['another kind of credentials is stored', { ...app(), mcp_toolset: [{ ...server('a', 'x'), mcp_server_info: {} }] }],
  ])('rejects masked secrets if %s', (_name, stored) => {
    const { errors } = restoreSecrets(app(server('a', '***')), stored);
    expect(errors.map(({ path }) => path)).toEqual([['mcp_toolset', 0, 'mcp_server_info', 'authorization', 'token']]);
  });
});
