import { readFileSync } from 'node:fs';
import { encodeEventStreamFrame, encodeEventStreamMessage } from '@copilotkit/aimock';
import type { Reply } from './scripted-upstream.ts';

export const vendorNames = ['gemini', 'vertex', 'bedrock', 'mistral'] as const;
export type Vendor = (typeof vendorNames)[number];

/** Creates one upstream of a vendor at this address, with credentials that must not leak. */
export function createUpstream(vendor: Vendor, url: string) {
  return {
    gemini: { protocol: 'gemini', endpoint: `${url}/v1beta`, key: 'gemini-secret', model: 'gemini-3-pro' },
    vertex: { protocol: 'vertex', endpoint: `${url}/v1/publishers/google`, key: 'vertex-secret', model: 'gemini-3-pro' },
    bedrock: {
      protocol: 'bedrock',
      endpoint: url,
      region: 'eu-central-1',
      key: 'AKIAIOSFODNN7EXAMPLE:bedrock-secret:session-secret',
      model: 'anthropic.claude-sonnet-4-5-20250929-v1:0',
    },
    mistral: { protocol: 'mistral', endpoint: `${url}/v1`, key: 'mistral-secret', model: 'magistral-small' },
  }[vendor];
}

/** Replies with a recorded stream, split into the given segments. */
export function createRecordedReply(
  vendor: Vendor,
  name: string,
  split: (bytes: Buffer) => readonly Buffer[] = (bytes) => [bytes],
): Reply {
  const contentType = vendor === 'bedrock' ? 'application/vnd.amazon.eventstream' : 'text/event-stream';
  return async (exchange) => {
    exchange.head(200, { 'content-type': contentType });
    for (const piece of split(readRecordedBytes(vendor, name))) await exchange.bytes(piece);
    exchange.response.end();
  };
}

/** Reads the bytes of a recorded stream. Recordings of Bedrock have one event per line. */
export function readRecordedBytes(vendor: Vendor, name: string): Buffer {
  const kind = vendor === 'bedrock' ? 'jsonl' : 'sse';
  const bytes = readFileSync(new URL(`../fixtures/${vendor}/${name}.${kind}`, import.meta.url));
  return vendor === 'bedrock' ? Buffer.concat(encodeEvents(bytes.toString('utf8'))) : bytes;
}

/** Encodes the events. `{"!name": …}` is an exception, `{"name": …}` an event. */
function encodeEvents(lines: string): Buffer[] {
  return lines
    .trim()
    .split('\n')
    .flatMap((line) => Object.entries(JSON.parse(line) as { [name: string]: object }))
    .map(([name, payload]) =>
      name.startsWith('!') ? encodeException(name.slice(1), payload) : encodeEventStreamMessage(name, payload),
    );
}

function encodeException(name: string, payload: object): Buffer {
  const headers = { ':message-type': 'exception', ':exception-type': name, ':content-type': 'application/json' };
  return encodeEventStreamFrame(headers, Buffer.from(JSON.stringify(payload)));
}
