import { describe, expect, it } from 'vitest';
import { ToolError } from '#domain/tools/tool.ts';
import { findManifestTarget, parseDocument, readOpenApi } from './read-document.ts';

const at = new URL('https://docs.test/specs/openapi.json');
const info = { title: 'Pets', version: '1' };
const openapi = (paths: object, fields: object = {}) =>
  readOpenApi(parseDocument(JSON.stringify({ openapi: '3.1.0', info, paths, ...fields })), at);

describe('readOpenApi server URLs', () => {
  it.each([
    [undefined, 'https://docs.test/a'],
    [[{ url: '/' }], 'https://docs.test/a'],
    [[{ url: '/api/v2/' }], 'https://docs.test/api/v2/a'],
    [[{ url: '../v3' }], 'https://docs.test/v3/a'],
    [[{ url: 'v3' }], 'https://docs.test/specs/v3/a'],
    [[{ url: '//other.test/x' }], 'https://other.test/x/a'],
    [[{ url: 'http://other.test:8080' }, { url: 'http://second.test' }], 'http://other.test:8080/a'],
    [
      [{ url: 'https://{region}.api.test/{base}', variables: { region: { default: 'eu' }, base: { default: 'v1' } } }],
      'https://eu.api.test/v1/a',
    ],
  ])('resolves %j against the document', async (servers, url) => {
    const { tools } = await openapi({ '/a': { get: {} } }, servers && { servers });
    expect(tools[0]?.url).toBe(url);
  });

  it('uses the server of the operation before the servers of its path and the document', async () => {
    const paths = {
      '/a': { servers: [{ url: 'https://path.test' }], get: { servers: [{ url: 'https://operation.test' }] }, put: {} },
    };
    const { tools } = await openapi(paths, { servers: [{ url: 'https://document.test' }] });
    expect(tools.map(({ url }) => url)).toEqual(['https://operation.test/a', 'https://path.test/a']);
  });
});

describe('findManifestTarget', () => {
  const manifest = (url: unknown) =>
    parseDocument(
      JSON.stringify({ schema_version: 'v1', name_for_model: 'pets', auth: { type: 'none' }, api: { type: 'openapi', url } }),
    );

  it.each([
    ['https://api.test/openapi.yaml', 'https://api.test/openapi.yaml'],
    ['/openapi.yaml', 'https://docs.test/openapi.yaml'],
    ['openapi.yaml', 'https://docs.test/specs/openapi.yaml'],
  ])('resolves the document URL %s', (url, target) => {
    expect(findManifestTarget(manifest(url), at)?.href).toBe(target);
  });

  it('returns undefined for a manifest without a URL and for an OpenAPI document', () => {
    expect(findManifestTarget(manifest(undefined), at)).toBeUndefined();
    expect(findManifestTarget({ openapi: '3.1.0', api: { url: 'https://x.test' } }, at)).toBeUndefined();
  });

  it('rejects an invalid URL', () => {
    expect(() => findManifestTarget(manifest('http://'), at)).toThrow(ToolError);
  });
});
