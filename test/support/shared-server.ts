import { inject } from 'vitest';
import type { ServerName } from './servers.ts';

/** Returns the address of a server that all tests of the run share. The first call starts it. */
export async function getSharedServer(name: ServerName): Promise<string> {
  const answer = await fetch(`${inject('servers')}/${name}`);
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${name} did not start: ${text}`);
  return text;
}
