import type { AddinRecord } from '#surfaces/addin/gateway.ts';
import { redact } from '#telemetry/redact.ts';

const longest = 200;

/** The line of the log for one request: no key, no query, no content. Paths and origins are a caller's words and may hold anything. */
export function toRequestLine(record: AddinRecord, epochMs: number): string {
  const { fault, method, ms, origin, outcome, path, requestId, status } = record;
  return `${JSON.stringify({
    level: fault === undefined ? 'info' : 'warn',
    time: epochMs,
    msg: 'request',
    method,
    path: shown(path),
    origin: origin && shown(origin),
    status,
    outcome,
    ms: Math.round(ms * 10) / 10,
    request_id: requestId && shown(requestId),
    fault: fault?.kind,
    cause: codeOf(fault?.cause),
  })}\n`;
}

function shown(text: string): string {
  return redact(text.slice(0, longest), []);
}

function codeOf(cause: unknown): string | undefined {
  return cause instanceof Error && 'code' in cause && typeof cause.code === 'string' ? cause.code : undefined;
}
