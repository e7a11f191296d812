import type { Settings } from './settings.ts';

const shortestSecret = 32;

/** What is likely a mistake in settings that can be used all the same. */
export function* warningsOf({ secrets, shared }: Settings): Iterable<string> {
  if (secrets.some((secret) => secret.reveal().length < shortestSecret))
    yield `PARLEY_SECRET is shorter than ${shortestSecret} characters: take a long random one, such as of "openssl rand -base64 32"`;
  if (shared.redisUrl !== undefined && shared.databaseUrl === undefined)
    yield 'PARLEY_REDIS_URL is set and PARLEY_DATABASE_URL is not: consents and applications are this node’s own';
  if (shared.redisUrl !== undefined && shared.files === undefined)
    yield 'PARLEY_REDIS_URL is set and PARLEY_FILES_URL is not: the contents of stored files are this node’s own';
}
