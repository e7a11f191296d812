import type { JsonObject } from '#base/json.ts';
import { toLatin1 } from '#base/latin1.ts';

/** Larger bodies are written apart from their head. */
const maxJoinedChars = 12 * 1024;

/** The JSON of a body; small ones as latin1 text, which goes out in one write with the head. */
export function toBody(body: JsonObject): string | Buffer {
  const json = JSON.stringify(body);
  return json.length <= maxJoinedChars ? toLatin1(json) : Buffer.from(json);
}
