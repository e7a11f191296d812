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

interface RestLimits {
  /** Milliseconds until the connection stands. */
  readonly connectMs: number;
  /** Milliseconds to the reply's head, and between two reads of it. */
  readonly timeoutMs: number;
  /** Bytes of a reply that are read at most. */
  readonly maxReplyBytes: number;
}

interface RestToolOptions {
  /** Guarded: arguments of the model and redirects steer it. */
  readonly http: HttpClient;
  readonly authorizer: Authorizer;
  readonly limits: RestLimits;
}

/** A web API's operation as a tool. What the server echoes of the credentials is masked. */
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

  /** A 401 is asked again once, if new credentials may be had. */
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
