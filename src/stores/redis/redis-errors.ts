import { findTlsFix } from '#base/net/tls-fix.ts';
import { StoreError } from '#domain/store-error.ts';

const variable = 'PARLEY_REDIS_URL';
const tls = { variable, caParameter: 'cacert', plainFix: `Start ${variable} with redis:// if the server has no TLS` };

/** Message of a command whose response took too long. */
export const timeoutMessage = 'Command timed out';

/** Returns whether a command failed because its response took too long. */
export function hasTimedOut({ message }: Error): boolean {
  return message === timeoutMessage;
}

/** Known errors: a pattern of the message, the reason for clients, and the fix for the operator. */
const knownErrors: readonly (readonly [RegExp, string, string])[] = [
  [/^(WRONGPASS|NOAUTH|ERR AUTH)/, 'it rejects the credentials of this node', `Check the user and the password in ${variable}`],
  [
    /^NOPERM|No permissions/,
    'it does not permit a command of this node',
    'Give the user of this node the rights that docs/deploy.md lists',
  ],
  [/^OOM/, 'its memory is full', 'Raise maxmemory of Redis'],
  [/^MISCONF/, 'it cannot write to its disk', 'Free space on the disk of Redis'],
  [/^MOVED/, 'it is a cluster', `Start ${variable} with redis-cluster://`],
  [/cluster support disabled/, 'it is not a cluster', `Start ${variable} with redis://`],
  [
    /^(CLUSTERDOWN|TRYAGAIN|Too many Cluster redirections)/,
    'its cluster is changing',
    `Parley tries again. ${variable} must start with redis-cluster://`,
  ],
];

interface ClientError extends Error {
  readonly code?: string;
  /** Error of the last node if no node of a cluster is available. */
  readonly lastNodeError?: Error | null;
  /** Errors of the commands in a transaction. */
  readonly previousErrors?: readonly Error[];
}

/** Keeps only the message or code of an error of the client, because it also contains the sent command, which may be secret. */
export function toStoreError(error: ClientError): StoreError {
  const origin: ClientError = error.lastNodeError ?? error.previousErrors?.[0] ?? error;
  const text = origin.message || origin.code || 'unknown error';
  const [, reason, fix = findTlsFix(origin, tls)] = knownErrors.find(([pattern]) => pattern.test(text)) ?? [];
  const cause = new Error(`Redis: ${text}${fix === undefined ? '' : `. ${fix}`}`);
  return new StoreError(reason ?? (hasTimedOut(error) ? 'it did not answer in time' : 'it cannot be reached'), { cause });
}
