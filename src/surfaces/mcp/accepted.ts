import type { IncomingMessage } from 'node:http';
import { ParleyError } from '#contract/errors/errors.ts';
import { isOriginAllowed } from '../http/cross-origin.ts';

/** The forms of an answer that a client takes. */
export interface Accepted {
  readonly json: boolean;
  readonly events: boolean;
}

/** What the client takes; JSON if it does not say. Throws if it takes neither form. */
export function readAccepted({ headers: { accept } }: IncomingMessage): Accepted {
  if (accept === undefined) return { json: true, events: false };
  const types = accept
    .toLowerCase()
    .split(',')
    .filter((each) => !/;\s*q=0(\.0*)?\s*$/.test(each))
    .map((each) => each.split(';')[0]?.trim());
  const events = types.includes('text/event-stream') || types.includes('text/*');
  const json = ['application/json', 'application/*', '*/*'].some((type) => types.includes(type));
  if (json || events) return { json, events };
  throw new ParleyError('invalid_request', 'Answers are application/json or text/event-stream; Accept must name both.', {
    status: 406,
  });
}

/**
 * Refuses what a page of another host sends: a browser on the caller's own network must not lend it its place (MCP,
 * Security Warning of the transport), unless the configuration allows it. Programs send no Origin.
 */
export function refuseOtherOrigins({ headers: { origin, host } }: IncomingMessage, allowed: readonly string[]): void {
  if (origin === undefined || isOwn(origin, host) || isOriginAllowed(origin, allowed)) return;
  throw new ParleyError('access_denied', 'Pages of other hosts are not answered here.');
}

function isOwn(origin: string, host = ''): boolean {
  if (!URL.canParse(origin)) return false;
  const { protocol, host: asking } = new URL(origin);
  const own = `${protocol}//${host}`;
  return /^https?:$/.test(protocol) && URL.canParse(own) && new URL(own).host === asking;
}
