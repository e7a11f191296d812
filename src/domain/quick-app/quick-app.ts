import type { JsonObject } from '#base/json/json.ts';
import type { Authorization, McpAuthorization } from '#contract/configuration/authorization.ts';
import type { ApplicationRetrieval, ContextSettings } from '#contract/configuration/service.ts';
import type { RestToolDefinition } from '../tools/rest-tool.ts';
import type { DeploymentFilter } from './deployment-filter.ts';

/** An application without code, in normalized form. */
export interface QuickApp {
  readonly instructions: string;
  /** ID of the model or application that answers. */
  readonly model: string;
  readonly temperature: number;
  readonly starters: readonly string[];
  /** Settings that replace the service's settings for conversations that exceed the context window. */
  readonly context: Partial<ContextSettings>;
  /** Toolsets in the order of the form. If two tools have the same name, the first keeps it. */
  readonly toolsets: readonly QuickAppToolset[];
  /** Conditions that select other deployments as tools. */
  readonly filter: DeploymentFilter | undefined;
}

/** A source of a quick app's tools. */
export type QuickAppToolset =
  | { readonly kind: 'deployment'; readonly id: string }
  | { readonly kind: 'client'; readonly name: string; readonly description: string; readonly parameters: JsonObject }
  | RestToolsetSettings
  | McpToolsetSettings
  | DocumentsSettings;

export interface DocumentsSettings {
  readonly kind: 'documents';
  /** References of the files. */
  readonly files: readonly string[];
  /** Settings that replace those of the service. */
  readonly retrieval: ApplicationRetrieval;
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
  /** Header fields to send with each request. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Names of the tools to offer. Undefined offers all tools of the server. */
  readonly allowedTools: readonly string[] | undefined;
  /** Whether the model may list and read the resources of the server. */
  readonly resources?: boolean;
  /** Whether conversations may start with prompts of the server. */
  readonly prompts?: boolean;
}

/** A part of a configured quick app that turned out to be unusable at run time. */
export type UnusablePart = UnknownTools | UnreadableDocument;

interface UnknownTools {
  readonly kind: 'tools';
  /** ID of the quick app. */
  readonly application: string;
  /** Name of the MCP toolset. */
  readonly toolset: string;
  /** All names in `allowed_tools` that the server currently does not have. */
  readonly names: readonly string[];
}

interface UnreadableDocument {
  readonly kind: 'document';
  /** ID of the quick app. */
  readonly application: string;
  readonly reference: string;
  /** Reason in one sentence why Parley cannot read the document. Undefined if Parley read it. */
  readonly failure: string | undefined;
}

export type OnUnusablePart = (part: UnusablePart) => void;
