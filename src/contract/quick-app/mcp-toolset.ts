import { type Static, Type } from 'typebox';
import { McpAuthorization } from '../configuration/authorization.ts';
import { httpUrl, strict, text, texts } from '../configuration/fields.ts';

const Server = strict(
  {
    url: httpUrl('Address of the server.'),
    protocol: Type.Enum(['streamable_http', 'sse'], { description: 'Transport that the server speaks.' }),
    authorization: Type.Optional(
      Type.Union([...McpAuthorization.anyOf, Type.Null()], {
        description: 'How the server is told who calls; `type` picks the form. Absent or null: it is told nothing.',
      }),
    ),
  },
  { description: 'How the server is reached.' },
);

/** An MCP server and which of its tools may be called. */
export const McpToolset = strict(
  {
    type: Type.Literal('mcp'),
    name: text('Name of the toolset, shown to people.'),
    mcp_server_info: Server,
    allowed_tools: Type.Optional(texts({ description: 'Names of the tools that may be called. Absent: all of the server.' })),
    resources: Type.Optional(
      Type.Boolean({
        title: 'Resources',
        description: 'true: the model may list and read what the server has to read, with two tools.',
      }),
    ),
    prompts: Type.Optional(
      Type.Boolean({
        title: 'Prompts as starters',
        description: 'true: prompts of the server that need no values are offered to begin with.',
      }),
    ),
  },
  { description: 'An MCP server.' },
);
export type McpToolset = Static<typeof McpToolset>;
