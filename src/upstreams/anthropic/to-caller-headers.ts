import type { ReplyHeaders } from '#base/http/client.ts';

const limitName = /^anthropic-(?:ratelimit|priority)-[a-z0-9-]{1,64}$/;
const limitValue = /^[\x20-\x7e]{1,200}$/;
const requestId = /^[\w.-]{1,128}$/;

/** Of a reply's header fields those that are meant for whoever asked: how far its upstream's limits are, and what it calls the request. */
export function toCallerHeaders(headers: ReplyHeaders): Record<string, string> {
  const { 'request-id': id } = headers;
  const limits = Object.entries(headers).filter(([name, value]) => limitName.test(name) && limitValue.test(value));
  return { ...Object.fromEntries(limits), ...(id !== undefined && requestId.test(id) && { 'request-id': id }) };
}
