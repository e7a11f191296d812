import type { LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { isJsonObject } from '#base/json.ts';
import { Frame } from '#contract/frame.ts';
import { UpstreamFault } from '#domain/upstreams/upstream.ts';
import { faultIn } from '../error-in-reply.ts';
import type { PartReader } from './part-reader.ts';

export interface ReadPartsDeps {
  readonly reader: PartReader;
  /** What goes to the caller of what was thrown. */
  readonly toThrown: (thrown: unknown) => unknown;
  /** Called with each part of the request that the package left out, in words and as the field of the request. */
  readonly noteLost: (what: string, field: string) => void;
}

/** The parts of a reply as frames. A stream that closes without an end, or has an error, is a fault. Leaving early closes it. */
export async function* readParts(
  parts: ReadableStream<LanguageModelV4StreamPart>,
  { reader, toThrown, noteLost }: ReadPartsDeps,
): AsyncIterable<Frame> {
  try {
    for await (const part of parts) {
      if (part.type === 'raw') {
        const fault = isJsonObject(part.rawValue) ? faultIn(part.rawValue) : undefined;
        if (fault !== undefined) throw fault;
        continue;
      }
      if (part.type === 'error') throw part.error;
      if (part.type === 'stream-start') for (const warning of part.warnings) noteLost(toWords(warning), toField(warning));
      const chunks = reader.take(part);
      if (chunks.length > 0) yield Frame.ofChunks(...chunks);
    }
  } catch (thrown) {
    throw toThrown(thrown);
  }
  if (!reader.hasEnded) throw new UpstreamFault('broken', 'The upstream closed its answer before the end.');
}

/** The fields of a request whose names are others in the packages than in camel case. */
const renamed: ReadonlyMap<unknown, string> = new Map([
  ['stopSequences', 'stop'],
  ['maxOutputTokens', 'max_tokens'],
  ['reasoning', 'reasoning_effort'],
]);

/** The field of the request that a warning is about. */
function toField(warning: unknown): string {
  const { feature, setting } = isJsonObject(warning) ? warning : {};
  const name = [feature, setting].find((each) => typeof each === 'string') ?? '';
  return renamed.get(name) ?? String(name).replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function toWords(warning: unknown): string {
  const { feature, setting, details, message } = isJsonObject(warning) ? warning : {};
  return [feature ?? setting, details ?? message].filter((each) => typeof each === 'string').join(': ');
}
