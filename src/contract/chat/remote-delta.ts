import type { JsonObject } from '#base/json/json.ts';

/** A tool as its server lists it. */
export interface ListedTool {
  readonly name: string;
  readonly description: string;
  /** A JSON Schema. */
  readonly input_schema: JsonObject;
  /** What the server says of the tool. */
  readonly annotations: JsonObject | null;
}

/** A call of a remote tool, by the id that the model gave it. */
interface RemoteCall {
  readonly id: string;
  /** Label of the server. */
  readonly server: string;
  readonly name: string;
  /** JSON text. */
  readonly arguments: string;
  /** What a vendor signed of the call. */
  readonly signed?: unknown;
}

/** A step in what is done with a server that the request itself named. */
export type RemoteDelta =
  | { readonly kind: 'listed'; readonly server: string; readonly tools: readonly ListedTool[]; readonly error: string | null }
  | (RemoteCall & { readonly kind: 'called'; readonly approvalRequest: string | null })
  | { readonly kind: 'answered'; readonly id: string; readonly output: string | null; readonly error: string | null }
  /** It waits until the user approves of it. */
  | (RemoteCall & { readonly kind: 'held' });
