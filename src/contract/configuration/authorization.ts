import { type Static, Type } from 'typebox';
import { httpUrl, secretHeaderValue, secretText, strict, text } from './fields.ts';

/** An MCP server takes a key in a header field only. */
const HeaderKeyAuthorization = strict(
  {
    type: Type.Literal('api_key'),
    key: secretHeaderValue('The key itself.'),
    name: text('Name of the header field that carries the key.'),
  },
  { description: 'A key sent with each request.' },
);

const ApiKeyAuthorization = strict(
  {
    type: Type.Literal('api_key'),
    key: secretHeaderValue('The key itself.'),
    name: text('Name of the header field, query parameter or body field that carries the key.'),
    location: Type.Enum(['header', 'query', 'body'], { description: 'Where the key is sent.' }),
  },
  { description: 'A key sent with each request.' },
);

const BasicAuthorization = strict(
  {
    type: Type.Literal('basic'),
    username: text('User name of HTTP Basic authentication.'),
    password: secretText('Password of HTTP Basic authentication; may be empty.'),
  },
  { description: 'HTTP Basic authentication.' },
);

const BearerAuthorization = strict(
  { type: Type.Literal('bearer'), token: secretHeaderValue('The token, without the word Bearer.') },
  { description: 'A fixed bearer token.' },
);

const ClientAuthorization = strict(
  {
    type: Type.Literal('client_id_secret'),
    client_id: text('Client id at the token address.'),
    client_secret: secretText('Client secret at the token address.'),
    token_url: httpUrl('Where tokens are fetched with the client credentials grant.'),
    scope: Type.Optional(text('Scope asked for. Absent: none is named.')),
    aud: Type.Optional(text('Audience asked for. Absent: none is named.')),
  },
  { description: 'A token fetched with client credentials and kept until it expires.' },
);

/** How the server of a tool is told who calls (docs/wire.md, Quick apps). */
export const Authorization = Type.Union([ApiKeyAuthorization, BasicAuthorization, BearerAuthorization, ClientAuthorization], {
  description: 'How the server of a tool is told who calls; `type` picks the form. Absent: it is told nothing.',
});
export type Authorization = Static<typeof Authorization>;

/** How an MCP server is told who calls. */
export const McpAuthorization = Type.Union(
  [HeaderKeyAuthorization, BasicAuthorization, BearerAuthorization, ClientAuthorization],
  {
    description: 'How the server is told who calls; `type` picks the form. Absent: it is told nothing.',
  },
);
export type McpAuthorization = Static<typeof McpAuthorization>;
