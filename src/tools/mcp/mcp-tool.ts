import type { Tool as ListedTool } from '@modelcontextprotocol/client';
import type { McpToolsetSettings } from '#domain/quick-app/quick-app.ts';
import { type Tool, ToolFault } from '#domain/tools/tool.ts';
import { McpCall, type McpCallOptions } from './mcp-call.ts';
import { toParameters } from './to-parameters.ts';
import { toToolResult } from './to-tool-result.ts';

/** In characters; what is longer is cut. */
export const longestDescription = 4000;

/** A tool of an MCP server. */
export function createMcpTool(listed: ListedTool, options: McpCallOptions): Tool {
  const { name, title = '', description = title, annotations, inputSchema } = listed;
  return {
    name,
    description: description.slice(0, longestDescription),
    parameters: toParameters(inputSchema),
    annotations,
    async run(args, context) {
      if (!isAllowed(options.settings, name)) throw new ToolFault(`${name} is not an allowed tool of ${options.settings.name}`);
      // Without its output schema: what a server wrote there could be made to take for ever, and the model sees the result.
      const toolDefinition = { name, inputSchema };
      return new McpCall(
        {
          send: (client, answers, sending) =>
            client.callTool({ name, arguments: args, ...answers }, { ...sending, toolDefinition }),
          toResult: toToolResult,
        },
        options,
        context,
      ).run();
    },
  };
}

export function isAllowed({ allowedTools }: McpToolsetSettings, name: string): boolean {
  return allowedTools === undefined || allowedTools.includes(name);
}
