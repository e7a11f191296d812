import { getBucket } from '#test/buckets.ts';
import type { TestRequest } from '#test/send-request.ts';

/**
 * Kinds of callers. `owner` owns the requested resources and has the roles `staff` and `admin`. `chain` and `ended` have
 * per-request keys of calls by the owner, in progress and ended. `user` has a token of an identity provider. The others have keys
 * of other projects: `admin`, `auditor`, and `scim` with these roles, `lead` as an owner of the project `owner`, `bound` with a key that is
 * bound to deployments, and `stranger`. All have the role `staff`, except `scim` and `roleless`.
 */
export const callers = [
  ...(['nobody', 'unknown', 'owner', 'admin', 'auditor', 'scim', 'lead', 'roleless', 'user'] as const),
  ...(['bound', 'chain', 'ended', 'stranger'] as const),
] as const;
export type CallerKind = (typeof callers)[number];

/** A status, followed by the code of the error or, for APIs without codes, its type. */
export type Outcome = number | `${number} ${string}`;

/** A request to a route, and its outcome for each kind of caller. */
export interface Row {
  /** Route as registered. HEAD counts as GET, and the files of the page are one route. */
  readonly route: string;
  readonly toRequest: (caller: CallerKind) => TestRequest;
  readonly outcomes: Readonly<Record<CallerKind, Outcome>>;
}

export const ownerBucket = getBucket('key:owner');
/** Text that other callers must never receive. */
export const canary = 'canary-of-the-owner';

export const denied = '403 access_denied';
const unknown = { nobody: '401 missing_credentials', unknown: '401 invalid_api_key', ended: '401 invalid_api_key' } as const;

/** One answer for all callers, with or without a key. */
export function open(status: Outcome): Row['outcomes'] {
  return Object.fromEntries(callers.map((caller) => [caller, status])) as Row['outcomes'];
}

/** One answer for all callers with a valid key or token, with exceptions. Bound keys are rejected. `scim` is like `roleless`. */
export function withKeyOnly(status: Outcome, others: Partial<Row['outcomes']> = {}): Row['outcomes'] {
  return { ...open(status), ...unknown, bound: denied, scim: others.roleless ?? status, ...others };
}

/** Like `withKeyOnly`, but bound keys have the same answer. */
export function withAnyKey(status: Outcome, others: Partial<Row['outcomes']> = {}): Row['outcomes'] {
  return withKeyOnly(status, { bound: status, ...others });
}

/** Routes that the role permits. */
export const byRole = withAnyKey(200, { roleless: denied });
/** Routes for the owner only, and not for applications that act for the owner. */
export const byOwner = (status: Outcome): Row['outcomes'] => withKeyOnly(denied, { owner: status });
/** Routes that change the configuration or the state, for administrators only. */
export const byAdmin = (status: Outcome): Row['outcomes'] => withKeyOnly(denied, { owner: status, admin: status });
/** Routes that administrators and auditors can read. */
export const byReader = (status: Outcome): Row['outcomes'] => ({ ...byAdmin(status), auditor: status });
/** Routes that administrators, auditors, and the owners of the project can read. */
export const byProjectReader = (status: Outcome): Row['outcomes'] => ({ ...byReader(status), lead: status });
/** Routes for signed-in users only. */
export const bySignedIn = (status: Outcome): Row['outcomes'] => withKeyOnly(denied, { user: status });
export const noKey = '404 key_not_found';
/** Routes of the Messages API that the role permits. */
export const messagesByRole = withAnyKey(200, {
  nobody: '401 authentication_error',
  unknown: '401 authentication_error',
  ended: '401 authentication_error',
  roleless: '403 permission_error',
});

interface RowOptions {
  /** Replaces the wildcard or the first parameter. Default: `none`, or the ID of a response or conversation that does not exist. */
  readonly at?: string;
  readonly query?: string;
  /** Default: `{}`, if the method has a body. */
  readonly body?: unknown;
}

/** Returns a row of a route, such as `GET /v1/models/:model`. */
export function toRow(route: string, outcomes: Row['outcomes'], options: RowOptions = {}): Row {
  const { at = '', query = '' } = options;
  const [method = '', url = ''] = route.split(' ');
  const named = url.replace(/\([^)]*\)/g, '');
  const filled = at === '' ? named : named.replace(/\*|:\w+/, () => at);
  const path = `${filled.replace(':response', 'resp_none').replace(':conversation', 'conv_none').replace(/:\w+/g, 'none')}${query}`;
  const body = 'body' in options || !['POST', 'PUT', 'PATCH'].includes(method) ? options.body : {};
  return { route, toRequest: () => ({ method, path, ...(body !== undefined && { body }) }), outcomes };
}
