import type { HttpBody } from '#base/http/client.ts';
import type { JsonObject } from '#base/json.ts';
import { toLatin1 } from '#base/latin1.ts';
import { toJsonPieces } from '#base/written-json.ts';

/** Larger bodies are written apart from their head. */
const maxJoinedChars = 12 * 1024;

/** The JSON of a body: large fields of the caller's as they came; small bodies as latin1 text, which goes out in one write with the head. */
export function toBody(body: JsonObject): HttpBody {
  const pieces = toJsonPieces(body);
  if (pieces !== undefined) return pieces;
  const json = JSON.stringify(body);
  return json.length <= maxJoinedChars ? toLatin1(json) : Buffer.from(json);
}
