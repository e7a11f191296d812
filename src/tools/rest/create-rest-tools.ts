import type { HttpClient } from '#base/http/client.ts';
import type { HttpReply } from '#base/http/read-reply.ts';
import type { JsonObject } from '#base/json/json.ts';
import { discardReply, openFollowingRedirects } from '#base/net/follow-redirects.ts';
import type { Authorization } from '#contract/configuration/authorization.ts';
import type { RestToolDefinition } from '#domain/tools/rest-tool.ts';
import type { Tool, ToolResult } from '#domain/tools/tool.ts';
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
export function createRestTool(definition: RestToolDefinition, options: RestToolOptions): Tool {
  const { name, description, parameters } = definition;
  return { name, description, parameters, run: (args, { signal }) => new RestCall(definition, options, signal).run(args) };
}

class RestCall {
  readonly #definition: RestToolDefinition;
  readonly #options: RestToolOptions;
  readonly #signal: AbortSignal;

  constructor(definition: RestToolDefinition, options: RestToolOptions, signal: AbortSignal) {
    this.#definition = definition;
    this.#options = options;
    this.#signal = signal;
  }

  /** Retries a 401 once if new credentials may be available. */
  async run(args: JsonObject): Promise<ToolResult> {
    let credentials = await this.#getCredentials();
    let reply = await this.#send(args, credentials);
    if (reply.status === 401 && this.#options.authorizer.onRejected(credentials)) {
      await discardReply(reply);
      credentials = await this.#getCredentials();
      reply = await this.#send(args, credentials);
    }
    const result = await toToolResult(reply, this.#options.limits.maxReplyBytes);
    const mask = (text: string): string => maskSecrets(text, listCredentialSecrets(credentials));
    const { note } = result;
    return { ...result, text: mask(result.text), ...(note !== undefined && { note: mask(note) }) };
  }

  async #getCredentials(): Promise<Credentials> {
    return this.#definition.isPublic ? noCredentials : this.#options.authorizer.getCredentials(this.#signal);
  }

  async #send(args: JsonObject, credentials: Credentials): Promise<HttpReply> {
    const { connectMs, timeoutMs } = this.#options.limits;
    const timeouts = { connectMs, firstByteMs: timeoutMs, idleMs: timeoutMs };
    const request = { ...toRestRequest(this.#definition, args, credentials), timeouts };
    const { reply } = await openFollowingRedirects(this.#options.http, request, this.#signal);
    return reply;
  }
}
