import type { HttpClient } from '#base/http/client.ts';
import type { Authorization } from '#contract/configuration/authorization.ts';
import type { RestToolDefinition } from '#domain/tools/rest-tool.ts';
import type { Tool } from '#domain/tools/tool.ts';
import { createAuthorizer } from '../authorization/authorizer.ts';
import type { TokenCache } from '../authorization/token-cache.ts';
import { createRestTool } from './rest-tool.ts';

/** A reply may be this many times as long as what the model is shown of it. */
const replyFactor = 100;

/** What the tools of web APIs share. */
export interface RestSources {
  /** Guarded. */
  readonly http: HttpClient;
  readonly tokens: TokenCache;
  /** `tools` of the configuration. */
  readonly limits: { readonly connectMs: number; readonly timeoutMs: number; readonly maxResultBytes: number };
}

/** The operations of one web API as tools, under one authorization. */
export function createRestTools(
  definitions: readonly RestToolDefinition[],
  authorization: Authorization | null | undefined,
  { http, tokens, limits: { connectMs, timeoutMs, maxResultBytes } }: RestSources,
): Tool[] {
  const authorizer = createAuthorizer(authorization, tokens);
  const options = { http, authorizer, limits: { connectMs, timeoutMs, maxReplyBytes: maxResultBytes * replyFactor } };
  return definitions.map((definition) => createRestTool(definition, options));
}
