import type { IncomingHttpHeaders } from 'node:http';
import { isJsonObject, type JsonObject } from '#base/json.ts';
import type { McpMessage } from '#contract/mcp/message.ts';
import { RpcFault } from './rpc-fault.ts';

/** The revision in which each request stands alone. */
export const statelessRevision = '2026-07-28';
/** Those that begin with `initialize`, the oldest first. */
const sessionRevisions = ['2025-03-26', '2025-06-18', '2025-11-25'] as const;
const newestOfSessions = sessionRevisions[2];

const versionKey = 'io.modelcontextprotocol/protocolVersion';
const capabilitiesKey = 'io.modelcontextprotocol/clientCapabilities';

/** How a client speaks. */
export type Era = 'sessions' | 'stateless';

/** The era of a request, whose header fields and body must agree. Throws RpcFault. */
export function eraOf(headers: IncomingHttpHeaders, message: McpMessage): Era {
  const meta = metaOf(message);
  const told = single(headers['mcp-protocol-version']);
  if (!Object.hasOwn(meta, versionKey) && told !== statelessRevision) {
    const isKnown = told === undefined || (sessionRevisions as readonly string[]).includes(told);
    if (!isKnown && message.method !== 'initialize') throw unsupported(told);
    return 'sessions';
  }
  requireEnvelope(meta);
  if (told !== meta[versionKey]) throw mismatch('MCP-Protocol-Version', String(meta[versionKey]));
  if (told !== statelessRevision) throw unsupported(told);
  requireMirrored(headers, message);
  return 'stateless';
}

/** The revision that is spoken with a client which asks for one. */
export function negotiate(asked: unknown): string {
  return sessionRevisions.find((each) => each === asked) ?? newestOfSessions;
}

/** `_meta` of a message; empty if it has none. */
export function metaOf({ params }: McpMessage): JsonObject {
  const meta = params?._meta;
  return isJsonObject(meta) ? meta : {};
}

function requireEnvelope(meta: JsonObject): void {
  if (typeof meta[versionKey] !== 'string')
    throw new RpcFault('invalidParams', `params._meta must have a text as ${versionKey}.`);
  if (!isJsonObject(meta[capabilitiesKey]))
    throw new RpcFault('invalidParams', `params._meta must have an object as ${capabilitiesKey}.`);
}

/** What those on the way may go by must be what the body says. */
function requireMirrored(headers: IncomingHttpHeaders, { method, params }: McpMessage): void {
  if (single(headers['mcp-method']) !== method) throw mismatch('Mcp-Method', method);
  const name = method === 'tools/call' ? params?.name : undefined;
  if (typeof name === 'string' && decoded(single(headers['mcp-name'])) !== name) throw mismatch('Mcp-Name', name);
}

/** Names that no header field can carry come as base64. */
function decoded(value: string | undefined): string | undefined {
  const [, encoded] = /^=\?base64\?([A-Za-z0-9+/]*={0,2})\?=$/.exec(value ?? '') ?? [];
  return encoded === undefined ? value : Buffer.from(encoded, 'base64').toString('utf8');
}

function mismatch(header: string, wanted: string): RpcFault {
  return new RpcFault('headerMismatch', `The header field ${header} must be what the body says: ${wanted.slice(0, 200)}.`);
}

function unsupported(requested: string | undefined): RpcFault {
  const supported = [statelessRevision, ...sessionRevisions.toReversed()];
  return new RpcFault('unsupportedVersion', `This protocol version is not spoken here; these are: ${supported.join(', ')}.`, {
    data: { supported, requested },
  });
}

function single(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header;
}
