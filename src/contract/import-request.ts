import { type Static, Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { ParleyError } from './errors/errors.ts';
import { requireShape } from './errors/request-error.ts';
import { cleaned } from './schemas/without-nulls.ts';

const names = (description: string) => Type.Optional(Type.Array(Type.String(), { description }));

/** What of an OpenAPI document shall become tools; `url` or `document` is there, or both. */
export const ImportRequest = Type.Object(
  {
    url: Type.Optional(
      Type.String({ description: 'Where the document is; beside `document`, what its servers are relative to.' }),
    ),
    document: Type.Optional(
      Type.Union([Type.String(), Type.Object({})], { description: 'The document: JSON or YAML as text, or JSON as an object.' }),
    ),
    include: names('Operations by name. Absent: all.'),
    exclude: names('Operations by name that are left out. Absent: none.'),
  },
  { additionalProperties: false },
);
export type ImportRequest = Static<typeof ImportRequest>;

const shape = Compile(ImportRequest);
const optional: ReadonlySet<string> = new Set(Object.keys(ImportRequest.properties));

/** Throws invalid_request. */
export function parseImportRequest(body: unknown): ImportRequest {
  const request = requireShape(shape, cleaned(body, optional));
  const { url, document } = request;
  if (url === undefined && document === undefined)
    throw new ParleyError('invalid_request', 'url or document is required.', { param: 'url' });
  if (url !== undefined && !(/^https?:\/\//i.test(url) && URL.canParse(url)))
    throw new ParleyError('invalid_request', 'url must be an address that begins with http:// or https://.', { param: 'url' });
  return request;
}
