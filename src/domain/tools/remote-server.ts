import type { JsonObject } from '#base/json/json.ts';
import type { McpToolsetSettings } from '../quick-app/quick-app.ts';

/** An MCP server that a request names. Parley runs its tools for the request. */
export interface RemoteServer {
  readonly settings: McpToolsetSettings;
  /** Description of the server for the model, from the request. Empty if there is none. */
  readonly description: string;
  /** Whether the client receives the list of tools. */
  readonly isListed: boolean;
  readonly isOffered: (tool: RemoteToolTraits) => boolean;
  readonly needsApproval: (tool: RemoteToolTraits) => boolean;
  /** Returns the name under which the model sees a tool of the server. */
  readonly toOfferedName: (name: string) => string;
}

/** Properties of a tool that determine whether the model may use it. */
export interface RemoteToolTraits {
  readonly name: string;
  /** Whether the server declares that the tool changes no data. */
  readonly isReadOnly: boolean;
}

/** A call that the user approved. In the conversation, it is a call without a result. */
export interface ApprovedCall {
  readonly id: string;
  /** Name of the tool as the model sees it. */
  readonly name: string;
  /** Arguments as JSON text. */
  readonly arguments: string;
  /** ID of the approval request. */
  readonly approvalRequest: string;
  /** Other fields of the call, which are returned with it. */
  readonly otherFields: JsonObject;
}

/** Servers and approved calls of a request. */
export interface RemoteTools {
  readonly servers: readonly RemoteServer[];
  readonly approvedCalls: readonly ApprovedCall[];
}
