import type { LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { isJsonObject } from '#base/json.ts';
import { Frame } from '#contract/frame.ts';
import { UpstreamFault } from '#domain/upstreams/upstream.ts';
import type { PartReader } from './part-reader.ts';

export interface ReadPartsDeps {
  readonly reader: PartReader;
  /** What goes to the caller of what was thrown. */
  readonly toThrown: (thrown: unknown) => unknown;
  /** Called with each part of the request that the package left out. */
  readonly noteLost: (what: string) => void;
}

/** The parts of a reply as frames. A stream that closes without an end, or has an error, is a fault. Leaving early closes it. */
export async function* readParts(
  parts: ReadableStream<LanguageModelV4StreamPart>,
  { reader, toThrown, noteLost }: ReadPartsDeps,
): AsyncIterable<Frame> {
  try {
    for await (const part of parts) {
      if (part.type === 'error') throw part.error;
      if (part.type === 'stream-start') for (const warning of part.warnings) noteLost(toWords(warning));
      const chunks = reader.take(part);
      if (chunks.length > 0) yield Frame.ofChunks(...chunks);
    }
  } catch (thrown) {
    throw toThrown(thrown);
  }
  if (!reader.hasEnded) throw new UpstreamFault('broken', 'The upstream closed its answer before the end.');
}

function toWords(warning: unknown): string {
  const { feature, setting, details, message } = isJsonObject(warning) ? warning : {};
  return [feature ?? setting, details ?? message].filter((each) => typeof each === 'string').join(': ');
}
