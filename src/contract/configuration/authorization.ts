import { type Static, Type } from 'typebox';
import { httpUrl, secretHeaderValue, secretText, strict, text } from './fields.ts';

/** MCP servers accept a key only in a header field. */
const HeaderKeyAuthorization = strict(
  {
    type: Type.Literal('api_key'),
    key: secretHeaderValue('The key.'),
    name: text('Name of the header field for the key.'),
  },
  { description: 'A key sent with each request.' },
);

const ApiKeyAuthorization = strict(
  {
    type: Type.Literal('api_key'),
    key: secretHeaderValue('The key.'),
    name: text('Name of the header field, query parameter, or body field for the key.'),
    location: Type.Enum(['header', 'query', 'body'], { description: 'Part of the request that carries the key.' }),
  },
  { description: 'A key sent with each request.' },
);

const BasicAuthorization = strict(
  {
    type: Type.Literal('basic'),
    username: text('User name for HTTP Basic authentication.'),
    password: secretText('Password for HTTP Basic authentication. Can be empty.'),
  },
  { description: 'HTTP Basic authentication.' },
);

const BearerAuthorization = strict(
  { type: Type.Literal('bearer'), token: secretHeaderValue('The token, without the prefix `Bearer`.') },
  { description: 'A fixed bearer token.' },
);

const ClientAuthorization = strict(
  {
    type: Type.Literal('client_id_secret'),
    client_id: text('Client ID at the token address.'),
    client_secret: secretText('Client secret at the token address.'),
    token_url: httpUrl('Token address for the client credentials grant.'),
    scope: Type.Optional(text('Requested scope. Default: none.')),
    aud: Type.Optional(text('Requested audience. Default: none.')),
  },
  { description: 'A token that Parley fetches with client credentials and caches until it expires.' },
);

/** Credentials for the server of a tool (docs/quick-apps.md, Web APIs). */
export const Authorization = Type.Union([ApiKeyAuthorization, BasicAuthorization, BearerAuthorization, ClientAuthorization], {
  description: 'Authorization at the server of the tool. `type` selects the scheme. Default: none.',
});
export type Authorization = Static<typeof Authorization>;

/** Credentials for an MCP server. */
export const McpAuthorization = Type.Union(
  [HeaderKeyAuthorization, BasicAuthorization, BearerAuthorization, ClientAuthorization],
  {
    description: 'Authorization at the server. `type` selects the scheme. Default: none.',
  },
);
export type McpAuthorization = Static<typeof McpAuthorization>;
