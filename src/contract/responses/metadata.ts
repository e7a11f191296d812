import { isJsonObject, type JsonObject } from '#base/json/json.ts';
import { requestFault } from '../errors/request-error.ts';

const mostKeys = 16;
const longestKey = 64;
const longestValue = 512;

/**
 * Returns up to 16 texts by their names. Returns undefined if there is no metadata. Throws invalid_request with the path of the
 * first error.
 */
export function readMetadata(given: unknown): JsonObject | undefined {
  if (given === undefined || given === null) return undefined;
  if (!isJsonObject(given)) throw requestFault('metadata', 'must be an object');
  const entries = Object.entries(given);
  if (entries.length > mostKeys) throw requestFault('metadata', `must have at most ${mostKeys} keys`);
  for (const [key, value] of entries) {
    const param = `metadata.${key.slice(0, longestKey)}`;
    if (key.length > longestKey) throw requestFault(param, `has a name of more than ${longestKey} characters`);
    if (typeof value !== 'string') throw requestFault(param, 'must be a string');
    if (value.length > longestValue) throw requestFault(param, `must have at most ${longestValue} characters`);
  }
  return given;
}
