import type { HttpClient } from '#base/http/client.ts';
import type { HttpReply } from '#base/http/read-reply.ts';
import type { JsonObject } from '#base/json/json.ts';
import { discardReply, openFollowingRedirects } from '#base/net/follow-redirects.ts';
import { truncate } from '#base/text/truncate.ts';
import type { Authorization } from '#contract/configuration/authorization.ts';
import type { RestToolDefinition } from '#domain/tools/rest-tool.ts';
import { type Attachment, type Tool, ToolError, type ToolResult } from '#domain/tools/tool.ts';
import {
  type Authorizer,
  type Credentials,
  createAuthorizer,
  listCredentialSecrets,
  maskSecrets,
  noCredentials,
} from '../authorization/authorizer.ts';
import type { TokenCache } from '../authorization/token-cache.ts';
import { htmlToText } from './html-to-text.ts';
import { toRestRequest } from './to-rest-request.ts';

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

interface RestToolOptions {
  /** HTTP client with a network guard, because arguments of the model and redirects influence the address. */
  readonly http: HttpClient;
  readonly authorizer: Authorizer;
  readonly limits: {
    /** Maximum number of milliseconds for connecting. */
    readonly connectMs: number;
    /** Maximum number of milliseconds until the response headers, and between two reads of the body. */
    readonly timeoutMs: number;
    /** Maximum number of bytes to read from a reply. */
    readonly maxReplyBytes: number;
  };
}

/**
 * Creates a tool for an operation of a web API. Masks credentials that the server echoes. Retries a 401 once if new credentials
 * may be available.
 */
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
    name,
    description,
    parameters,
    async run(args, { signal }) {
      let credentials = await getCredentials(signal);
      let reply = await send(args, credentials, signal);
      if (reply.status === 401 && authorizer.onRejected(credentials)) {
        await discardReply(reply);
        credentials = await getCredentials(signal);
        reply = await send(args, credentials, signal);
      }
      const secrets = listCredentialSecrets(credentials);
      return toToolResult(reply, { maxBytes: limits.maxReplyBytes, mask: (text) => maskSecrets(text, secrets) });
    },
  };
}

const maxExplanationChars = 2000;

interface ReplyOptions {
  /** Maximum number of bytes to read. */
  readonly maxBytes: number;
  /** Masks the credentials in a text. Applied before a text is truncated, because a part of a secret cannot be found. */
  readonly mask: (text: string) => string;
}

interface Content {
  readonly bytes: Buffer;
  readonly isComplete: boolean;
  /** Media type without parameters, in lower case. */
  readonly type: string;
  readonly charset: string | undefined;
}

/**
 * Converts a reply to a result for the model. Text stays unchanged, an error status includes a truncated body, and other
 * content becomes an attachment.
 */
async function toToolResult(reply: HttpReply, options: ReplyOptions): Promise<ToolResult> {
  const { status, headers } = reply;
  const encoding = headers['content-encoding'] ?? 'identity';
  if (encoding !== 'identity') throw new ToolError(`the server sent its reply as ${encoding}, which is not accepted`);
  const content = await readContent(reply, options.maxBytes);
  const note = formatHeaderNotes(headers, options.mask);
  return { ...toResult(status, content, options), ...(note !== undefined && { note }) };
}

function toResult(status: number, content: Content, { maxBytes, mask }: ReplyOptions): ToolResult {
  const readableText = toReadable(toText(content), content);
  const text = readableText && mask(readableText);
  if (status < 200 || status > 299) return toErrorResult(status, text, content);
  if (content.bytes.length === 0) return { text: `Done: HTTP ${status}, no content.`, attachments: [], failed: false };
  if (text === undefined) return toAttachment(content, maxBytes);
  const note = content.isComplete ? '' : `\n\n[The reply is longer. Only its first ${maxBytes} bytes were read.]`;
  return { text: text + note, attachments: [], failed: false };
}

/** Converts a web page to text. A page without text is returned unchanged. */
function toReadable(text: string | undefined, { type }: Content): string | undefined {
  const isXml = type === 'application/xhtml+xml';
  if (text === undefined || (!isXml && type !== 'text/html')) return text;
  return htmlToText(text, { isXml }) || text;
}

function toErrorResult(status: number, text: string | undefined, { bytes, type }: Content): ToolResult {
  const explanation = text === undefined ? `${bytes.length} bytes of ${type}` : truncate(text.trim(), maxExplanationChars);
  return { text: explanation === '' ? `HTTP ${status}` : `HTTP ${status}: ${explanation}`, attachments: [], failed: true };
}

function toAttachment({ bytes, isComplete, type }: Content, maxBytes: number): ToolResult {
  if (!isComplete)
    return { text: `The reply is ${type} of more than ${maxBytes} bytes, which is too large.`, attachments: [], failed: true };
  const attachment: Attachment = { type, title: `Reply (${type})`, data: bytes.toString('base64') };
  return {
    text: `The reply is ${type}, ${bytes.length} bytes. The user was shown it.`,
    attachments: [attachment],
    failed: false,
  };
}

async function readContent({ headers, body }: HttpReply, maxBytes: number): Promise<Content> {
  let received = '';
  for await (const piece of body) {
    received += piece;
    if (received.length > maxBytes) break;
  }
  const [type = '', ...parameters] = (headers['content-type'] ?? '').toLowerCase().split(';');
  return {
    bytes: Buffer.from(received.slice(0, maxBytes), 'latin1'),
    isComplete: received.length <= maxBytes,
    type: /^[\w.+-]+\/[\w.+-]+$/.test(type.trim()) ? type.trim() : 'application/octet-stream',
    charset: /charset="?([\w.:-]+)/.exec(parameters.join(';'))?.[1],
  };
}

const textTypes =
  /^text\/|[/+](json|xml|yaml|x-yaml|javascript|csv|graphql)$|^application\/(x-www-form-urlencoded|json[\w-]*|x-ndjson|jsonl)$/;

/**
 * Returns undefined if the content is not text. Content without a type, or of the type `application/octet-stream`, is text if
 * it is valid UTF-8 without NUL bytes.
 */
function toText({ bytes, type, charset, isComplete }: Content): string | undefined {
  if (textTypes.test(type)) return createDecoder(charset).decode(bytes, { stream: !isComplete });
  if (type !== 'application/octet-stream' || bytes.includes(0)) return undefined;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: !isComplete });
  } catch {
    return undefined;
  }
}

function createDecoder(charset: string | undefined): TextDecoder {
  try {
    return new TextDecoder(charset ?? 'utf-8');
  } catch {
    return new TextDecoder('utf-8');
  }
}

// Pattern bound: linear. Each quoted value ends at the next quotation mark, and the group of parameters may be empty.
const linkPattern = /<([^<>]{1,2000})>((?:\s*;\s*[\w!#$&+.^`|~-]+\s*=\s*(?:"[^"]*"|[^\s",;]+))*)/g;
const pageRelations = new Set(['next', 'prev', 'previous', 'first', 'last']);
/** Headers that report the total and the current page. */
const paginationHeaders =
  'x-total-count x-total x-total-pages x-wp-total x-wp-totalpages x-page x-per-page x-next-page x-prev-page x-count x-pagination pagination-count pagination-page pagination-limit content-range'.split(
    ' ',
  );
const maxFieldChars = 300;
const maxLinkChars = 4_000;

/**
 * Returns a note about headers that are useful for the next call: when to retry, the addresses of further pages, and totals.
 * Returns undefined if there are no such headers.
 */
function formatHeaderNotes(headers: HttpReply['headers'], mask: ReplyOptions['mask']): string | undefined {
  const getField = (name: string, maxLength = maxFieldChars): string | undefined =>
    mask(headers[name] ?? '')
      .trim()
      .slice(0, maxLength) || undefined;
  const retryAfter = getField('retry-after');
  const notes = [
    ...(retryAfter === undefined ? [] : [`Retry-After: ${/^\d+$/.test(retryAfter) ? `${retryAfter} s` : retryAfter}`]),
    ...[...listPages(getField('link', maxLinkChars) ?? '')].map(([relation, address]) => `${relation} page: ${address}`),
    ...paginationHeaders.flatMap((name) => {
      const value = getField(name);
      return value === undefined ? [] : [`${name}: ${value}`];
    }),
  ];
  return notes.length === 0 ? undefined : `[The server also returned: ${notes.join('; ')}.]`;
}

/** Yields the pages of a `Link` header (RFC 8288). */
function* listPages(link: string): Iterable<readonly [relation: string, address: string]> {
  for (const [, address = '', parameters = ''] of link.matchAll(linkPattern)) {
    // Pattern bound: linear. Each quoted value ends at the next quotation mark.
    const match = /;\s*rel\s*=\s*(?:"([^"]*)"|([^\s",;]+))/i.exec(parameters);
    for (const relation of (match?.[1] ?? match?.[2] ?? '').toLowerCase().split(/\s+/))
      if (pageRelations.has(relation)) yield [relation, address];
  }
}
