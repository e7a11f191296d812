import type { JsonObject } from '#base/json/json.ts';
import type { Authorization, McpAuthorization } from '#contract/configuration/authorization.ts';
import type { ContextSettings, RetrievalOfApplication } from '#contract/configuration/service.ts';
import type { RestToolDefinition } from '../tools/rest-tool.ts';
import type { DeploymentFilter } from './deployment-filter.ts';

/** An application without code, in the one form that it runs from. */
export interface QuickApp {
  readonly instructions: string;
  /** Id of the deployment that is asked. */
  readonly model: string;
  readonly temperature: number;
  readonly starters: readonly string[];
  /** In place of what the service does with conversations that are longer than the model takes. */
  readonly context: Partial<ContextSettings>;
  /** In the order of the form, which decides who keeps a name that two tools have. */
  readonly toolsets: readonly QuickAppToolset[];
  /** Which other deployments are its tools, by conditions. Undefined: it has none. */
  readonly filter: DeploymentFilter | undefined;
}

/** Where tools of a quick app come from. */
export type QuickAppToolset =
  | { readonly kind: 'deployment'; readonly id: string }
  | { readonly kind: 'client'; readonly name: string; readonly description: string; readonly parameters: JsonObject }
  | RestToolsetSettings
  | McpToolsetSettings
  | DocumentsSettings;

export interface DocumentsSettings {
  readonly kind: 'documents';
  /** References. */
  readonly files: readonly string[];
  /** What is absent is as the service has it. */
  readonly retrieval: RetrievalOfApplication;
}

export interface RestToolsetSettings {
  readonly kind: 'rest';
  readonly name: string;
  readonly authorization: Authorization | null;
  readonly tools: readonly RestToolDefinition[];
}

export interface McpToolsetSettings {
  readonly kind: 'mcp';
  readonly name: string;
  readonly url: string;
  readonly protocol: 'streamable_http' | 'sse';
  readonly authorization: McpAuthorization | null;
  /** Sent with each request; absent: none. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Undefined: all of the server. */
  readonly allowedTools: readonly string[] | undefined;
  /** Whether the model may list and read what the server has to read; absent: not. */
  readonly resources?: boolean;
  /** Whether conversations may begin with prompts of the server; absent: not. */
  readonly prompts?: boolean;
}
