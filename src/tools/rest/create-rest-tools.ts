import type { HttpClient } from '#base/http/client.ts';
import type { HttpReply } from '#base/http/read-reply.ts';
import type { JsonObject } from '#base/json/json.ts';
import { discardReply, openFollowingRedirects } from '#base/net/follow-redirects.ts';
import type { Authorization } from '#contract/configuration/authorization.ts';
import type { RestToolDefinition } from '#domain/tools/rest-tool.ts';
import type { Tool } from '#domain/tools/tool.ts';
import { type Authorizer, type Credentials, createAuthorizer, noCredentials } from '../authorization/authorizer.ts';
import { listCredentialSecrets, maskSecrets } from '../authorization/masking.ts';
import type { TokenCache } from '../authorization/token-cache.ts';
import { toRestRequest } from './to-rest-request.ts';
import { toToolResult } from './to-tool-result.ts';

/** Maximum size of a reply, as a multiple of the maximum size of a result for the model. */
const replyFactor = 100;

/** Shared dependencies of REST tools. */
export interface RestSources {
  /** HTTP client with a network guard. */
  readonly http: HttpClient;
  readonly tokens: TokenCache;
  /** The `tools` section of the configuration. */
  readonly limits: { readonly connectMs: number; readonly timeoutMs: number; readonly maxResultBytes: number };
}

/** Creates tools for the operations of one web API with one authorization. */
export function createRestTools(
  definitions: readonly RestToolDefinition[],
  authorization: Authorization | null | undefined,
  { http, tokens, limits: { connectMs, timeoutMs, maxResultBytes } }: RestSources,
): Tool[] {
  const authorizer = createAuthorizer(authorization, tokens);
  const options = { http, authorizer, limits: { connectMs, timeoutMs, maxReplyBytes: maxResultBytes * replyFactor } };
  return definitions.map((definition) => createRestTool(definition, options));
}

interface RestLimits {
  /** Maximum number of milliseconds for connecting. */
  readonly connectMs: number;
  /** Maximum number of milliseconds until the response headers, and between two reads of the body. */
  readonly timeoutMs: number;
  /** Maximum number of bytes to read from a reply. */
  readonly maxReplyBytes: number;
}

interface RestToolOptions {
  /** HTTP client with a network guard, because arguments of the model and redirects influence the address. */
  readonly http: HttpClient;
  readonly authorizer: Authorizer;
  readonly limits: RestLimits;
}

/** Creates a tool for an operation of a web API. Masks credentials that the server echoes. */
export function createRestTool(definition: RestToolDefinition, { http, authorizer, limits }: RestToolOptions): Tool {
  const { name, description, parameters } = definition;
  const timeouts = { connectMs: limits.connectMs, firstByteMs: limits.timeoutMs, idleMs: limits.timeoutMs };
  const getCredentials = async (signal: AbortSignal): Promise<Credentials> =>
    definition.isPublic ? noCredentials : authorizer.getCredentials(signal);
  const send = async (args: JsonObject, credentials: Credentials, signal: AbortSignal): Promise<HttpReply> => {
    const request = { ...toRestRequest(definition, args, credentials), timeouts };
    return (await openFollowingRedirects(http, request, signal)).reply;
  };
  return {
    ...{ name, description, parameters },
    // Retries a 401 once if new credentials may be available.
    async run(args, { signal }) {
      let credentials = await getCredentials(signal);
      let reply = await send(args, credentials, signal);
      if (reply.status === 401 && authorizer.onRejected(credentials)) {
        await discardReply(reply);
        credentials = await getCredentials(signal);
        reply = await send(args, credentials, signal);
      }
      const result = await toToolResult(reply, limits.maxReplyBytes);
      const mask = (text: string): string => maskSecrets(text, listCredentialSecrets(credentials));
      const { note } = result;
      return { ...result, text: mask(result.text), ...(note !== undefined && { note: mask(note) }) };
    },
  };
}
