import type { Client, Tool as ListedTool, ListResourcesResult, ReadResourceResult } from '@modelcontextprotocol/client';
import type { JsonObject } from '#base/json/json.ts';
import type { McpToolsetSettings } from '#domain/quick-app/quick-app.ts';
import { type Tool, ToolError, type ToolResult } from '#domain/tools/tool.ts';
import { callServer, type McpCallOptions, type McpRequest } from './mcp-call.ts';
import { getHttpStatus, getServerMessage } from './server-error.ts';
import { toParameters } from './to-parameters.ts';
import { toToolResult } from './to-tool-result.ts';

/** Maximum number of characters of a description. Longer descriptions are truncated. */
export const maxDescriptionChars = 4000;

/** Creates a tool of an MCP server. */
export function createMcpTool(listed: ListedTool, options: McpCallOptions): Tool {
  const { name, title = '', description = title, annotations, inputSchema } = listed;
  return {
    name,
    description: description.slice(0, maxDescriptionChars),
    parameters: toParameters(inputSchema),
    annotations,
    async run(args, context) {
      if (!isAllowed(options.settings, name)) throw new ToolError(`${name} is not an allowed tool of ${options.settings.name}`);
      // The output schema is omitted. A malicious schema could take forever to check, and the model sees the result anyway.
      const toolDefinition = { name, inputSchema };
      return callServer(options, context, {
        send: (client, answers, sendOptions) =>
          client.callTool({ name, arguments: args, ...answers }, { ...sendOptions, toolDefinition }),
        toResult: toToolResult,
      });
    },
  };
}

export function isAllowed({ allowedTools }: McpToolsetSettings, name: string): boolean {
  return allowedTools === undefined || allowedTools.includes(name);
}

type SendOptions = Parameters<McpRequest<object>['send']>[2];

/** Creates the tools for a server's resources: one lists resources and templates, one reads a resource. */
export function createResourceTools(options: McpCallOptions): readonly Tool[] {
  const { name: server } = options.settings;
  return [
    {
      name: 'list_resources',
      description: `Lists the resources of the MCP server ${server}: addresses for read_resource, and templates for addresses.`,
      parameters: resourceParameters(
        { cursor: 'nextCursor of the previous list, to continue after it. If absent, the list starts at the beginning.' },
        [],
      ),
      run: ({ cursor }, context) =>
        callServer(options, context, {
          send: (client, _answers, sendOptions) =>
            listResources(client, typeof cursor === 'string' ? cursor : undefined, sendOptions),
          toResult: toListResult,
        }),
    },
    {
      name: 'read_resource',
      description: `Reads a resource of the MCP server ${server}.`,
      parameters: resourceParameters({ uri: 'Its address: one that is listed, or one made of a template.' }, ['uri']),
      run: ({ uri }, context) =>
        callServer(options, context, {
          send: (client, answers, sendOptions) =>
            client.readResource({ uri: String(uri), ...answers }, { ...sendOptions, cacheMode: 'bypass' }),
          toResult: toReadResult,
        }),
    },
  ];
}

function resourceParameters(texts: Readonly<Record<string, string>>, required: readonly string[]): JsonObject {
  const properties = Object.entries(texts).map(([name, description]) => [name, { type: 'string', description }]);
  return { type: 'object', properties: Object.fromEntries(properties), required, additionalProperties: false };
}

interface ResourceList {
  readonly resources: ListResourcesResult['resources'];
  readonly templates: readonly object[];
  readonly nextCursor: string | undefined;
}

/** Returns one page of resources. The first page includes the templates. */
async function listResources(client: Client, cursor: string | undefined, sendOptions: SendOptions): Promise<ResourceList> {
  const page = client.request({ method: 'resources/list', params: cursor === undefined ? {} : { cursor } }, sendOptions);
  const [{ resources, nextCursor }, templates] = await Promise.all([
    page,
    cursor === undefined ? listTemplates(client, sendOptions) : [],
  ]);
  return { resources, templates, nextCursor };
}

/** Returns the templates. Servers may not support them, which a stateless server reports with 404. */
async function listTemplates(client: Client, sendOptions: SendOptions): Promise<readonly object[]> {
  try {
    return (await client.request({ method: 'resources/templates/list', params: {} }, sendOptions)).resourceTemplates;
  } catch (error) {
    if (getServerMessage(error) === undefined && getHttpStatus(error) !== 404) throw error;
    return [];
  }
}

function toListResult({ resources, templates, nextCursor }: ResourceList, mask: (text: string) => string): ToolResult {
  const payload = { resources, ...(templates.length > 0 && { templates }), ...(nextCursor !== undefined && { nextCursor }) };
  return { text: mask(JSON.stringify(payload)), attachments: [], failed: false };
}

function toReadResult({ contents }: ReadResourceResult, mask: (text: string) => string): ToolResult {
  const content = contents.map((resource) => ({ type: 'resource' as const, resource }));
  return toToolResult({ content }, mask);
}
