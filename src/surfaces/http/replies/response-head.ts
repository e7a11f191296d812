import type { ServerResponse } from 'node:http';

/** Sets fields as they are given to `writeHead`: names and values in turn, or an object. */
export function setFields(response: ServerResponse, fields: unknown): void {
  if (Array.isArray(fields)) for (let at = 0; at + 1 < fields.length; at += 2) response.appendHeader(fields[at], fields[at + 1]);
  else if (typeof fields === 'object')
    for (const [name, value] of Object.entries(fields ?? {})) if (value !== undefined) response.setHeader(name, value);
}

/** `Vary` of a response: `Origin`, and what it varies by besides. */
export function toVary(vary: string | undefined): string {
  const others = (vary ?? '').split(',').map((name) => name.trim());
  return ['Origin', ...others.filter((name) => name !== '' && name.toLowerCase() !== 'origin')].join(', ');
}
