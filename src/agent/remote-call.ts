import type { ApprovedCall } from '#domain/tools/remote-server.ts';
import type { RemoteTool } from '#domain/tools/tool.ts';
import type { ToolCall } from './turn.ts';

/** A call as it is told of a server. */
export function toRemoteCall({ id, function: asked, ...rest }: ToolCall, { server, name }: RemoteTool) {
  const { extra_content: signed } = rest as { extra_content?: unknown };
  return { id, server, name, arguments: asked.arguments, ...(signed !== undefined && { signed }) };
}

/** A call that was approved, as the model made it. */
export function toToolCall({ id, name, arguments: args, rest }: ApprovedCall): ToolCall {
  return { ...rest, id, type: 'function', function: { name, arguments: args } };
}
