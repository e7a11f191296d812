import { findTlsFix } from '#base/net/tls-fix.ts';

/** The server, or the pooler in front of it, permanently rejects this node. The message names the fix and can be logged. */
export class RejectedConnectionError extends Error {
  override readonly name = 'RejectedConnectionError';
}

const url = 'PARLEY_DATABASE_URL';

/** Fixes for errors that a retry does not solve, by SQLSTATE. */
const fixes: ReadonlyMap<string, string> = new Map([
  ['28P01', `Check the user and the password in ${url}. Write special characters in the password as %XX`],
  ['28000', `Check the user in ${url} and pg_hba.conf. If the server requires TLS, add ?sslmode=verify-full`],
  ['3D000', `Create the database, or correct its name at the end of ${url}`],
  ['42501', `Connect as the owner of the database, or run: grant create, usage on schema public to the user of ${url}`],
]);

/** Fixes by message, for errors without a code. */
const fixesByMessage: readonly (readonly [RegExp, string])[] = [
  [/transaction blocks not allowed in statement pooling/, 'Set pool_mode = transaction or session in PgBouncer'],
  [/no such (database|user)|password authentication failed|client password must be/i, fixes.get('28P01') ?? ''],
];

const tls = { variable: url, caParameter: 'sslrootcert', plainFix: `Turn TLS on at the server, or remove sslmode from ${url}` };

/**
 * Returns an error that names the fix if the connection failed for a known permanent reason, and the error itself otherwise.
 * `variable` is the name of the environment variable with the address.
 */
export function describeConnectionError(error: unknown, variable = url): unknown {
  if (!(error instanceof Error) || error instanceof RejectedConnectionError) return error;
  const { code = '' } = error as Error & { readonly code?: string };
  const byMessage = fixesByMessage.find(([pattern]) => pattern.test(error.message))?.[1];
  const fix = fixes.get(code) ?? byMessage ?? findTlsFix(error, tls);
  return fix === undefined
    ? error
    : new RejectedConnectionError(`${error.message}. ${fix.replaceAll(url, variable)}`, { cause: error });
}

/** Returns whether a pooler refused the connection because of the time limits in the startup message. */
export function isStartupParameterRejected(error: unknown): boolean {
  return error instanceof Error && /unsupported startup parameter/i.test(error.message);
}

const diskFull = 'the disk of the database is full';
/** SQLSTATE of a write on a server that became a replica after a failover. */
const readOnlyCode = '25006';
/** Reasons that clients receive if the database runs but cannot store data, by SQLSTATE. */
const reasons: ReadonlyMap<string, string> = new Map([
  ['53100', diskFull],
  ['53200', 'the database is out of memory'],
  [readOnlyCode, 'the database is read-only'],
]);

/** Returns the reason of a failed operation for clients. */
export function toOperationReason(cause: unknown): string {
  const { code = '', message = '' } = (cause ?? {}) as { readonly code?: string; readonly message?: string };
  return reasons.get(code) ?? (message.includes('disk is full') ? diskFull : 'the database failed');
}

/** Returns whether the server rejects writes, for example because it became a replica. */
export function isReadOnly(error: unknown): boolean {
  return (error as { readonly code?: string } | undefined)?.code === readOnlyCode;
}
