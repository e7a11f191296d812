import { type Static, Type } from 'typebox';
import { McpAuthorization } from '../configuration/authorization.ts';
import { httpUrl, strict, text, texts } from '../configuration/fields.ts';

const Server = strict(
  {
    url: httpUrl('Address of the server.'),
    protocol: Type.Enum(['streamable_http', 'sse'], { description: 'Transport of the server.' }),
    authorization: Type.Optional(
      Type.Union([...McpAuthorization.anyOf, Type.Null()], {
        description: 'Authorization at the server. `type` selects the scheme. Default or null: none.',
      }),
    ),
  },
  { description: 'Address and transport of the server.' },
);

/** An MCP server and its allowed tools. */
export const McpToolset = strict(
  {
    type: Type.Literal('mcp'),
    name: text('Display name of the toolset.'),
    mcp_server_info: Server,
    allowed_tools: Type.Optional(
      texts({ description: 'Names of the tools that the model can call. Default: all tools of the server.' }),
    ),
    resources: Type.Optional(
      Type.Boolean({
        title: 'Resources',
        description: 'true: the model can list and read the resources of the server with two tools.',
      }),
    ),
    prompts: Type.Optional(
      Type.Boolean({
        title: 'Prompts as starters',
        description: 'true: prompts of the server without required values are offered as starters.',
      }),
    ),
  },
  { description: 'An MCP server.' },
);
export type McpToolset = Static<typeof McpToolset>;
