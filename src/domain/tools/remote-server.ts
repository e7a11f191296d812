import type { JsonObject } from '#base/json/json.ts';
import type { McpToolsetSettings } from '../quick-app/quick-app.ts';

/** An MCP server that a request names, whose tools are run for it. */
export interface RemoteServer {
  readonly settings: McpToolsetSettings;
  /** What the user of the server says of it, for the model; empty: nothing. */
  readonly description: string;
  /** Whether the caller is told what tools it has. */
  readonly isListed: boolean;
  readonly isOffered: (tool: RemoteToolFacts) => boolean;
  readonly needsApproval: (tool: RemoteToolFacts) => boolean;
  /** The name that the model knows a tool of the server by. */
  readonly toOfferedName: (name: string) => string;
}

/** What decides on a tool of a server. */
export interface RemoteToolFacts {
  readonly name: string;
  /** The server says that it changes nothing. */
  readonly isReadOnly: boolean;
}

/** A call that waited for the user's approval and has it; its place in the conversation is a call without a result. */
export interface ApprovedCall {
  readonly id: string;
  /** As the model knows it. */
  readonly name: string;
  /** JSON text. */
  readonly arguments: string;
  /** Id of the request for approval. */
  readonly approvalRequest: string;
  /** What came with the call and goes back with it. */
  readonly rest: JsonObject;
}

/** What is run for a request that names servers. */
export interface RemoteTools {
  readonly servers: readonly RemoteServer[];
  readonly approved: readonly ApprovedCall[];
}
