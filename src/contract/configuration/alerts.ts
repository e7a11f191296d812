import { type Static, Type } from 'typebox';
import { httpUrl, secretLine, strict, text } from './fields.ts';
import type { CostLimit, DeploymentLimit } from './limits.ts';

/** Keys of limits by the names of their windows. */
const limitKeys: Readonly<Record<string, keyof DeploymentLimit>> = {
  'tokens.minute': 'minute',
  'tokens.day': 'day',
  'tokens.week': 'week',
  'tokens.month': 'month',
  'requests.minute': 'requestMinute',
  'requests.hour': 'requestHour',
  'requests.day': 'requestDay',
};
const costKeys: Readonly<Record<string, keyof CostLimit>> = {
  'cost.day': 'day',
  'cost.week': 'week',
  'cost.month': 'month',
  'cost.year': 'year',
};

const scopes = ['project', 'key', 'role', 'user'] as const;

/** Limits whose usage an alert watches. */
export interface AlertScope {
  /** `every` means each user. */
  readonly kind: (typeof scopes)[number] | 'every';
  /** Name of the project, key, or role, or ID of the user. Empty for `every`. */
  readonly name: string;
}

/** Parses `of`. Returns undefined if it is invalid. */
export function parseAlertScope(of: string): AlertScope | undefined {
  if (of === '*') return { kind: 'every', name: '' };
  const kind = scopes.find((scope) => of.startsWith(`${scope}:`) && of.length > scope.length + 1);
  return kind && { kind, name: of.slice(kind.length + 1) };
}

/** Window of an alert. Its limit is `costLimit[costKey]`, `totals[key]`, or `limits[deployment][key]`. */
export type AlertWindow =
  | { readonly costKey: keyof CostLimit }
  | { readonly key: keyof DeploymentLimit; readonly deployment: string | undefined };

/** Parses `window`. Returns undefined if it is invalid. */
export function parseAlertWindow(window: string): AlertWindow | undefined {
  const colon = window.indexOf(':');
  const name = colon === -1 ? window : window.slice(0, colon);
  if (colon === -1 && Object.hasOwn(costKeys, name)) return { costKey: costKeys[name] as keyof CostLimit };
  if (!Object.hasOwn(limitKeys, name) || colon === window.length - 1) return undefined;
  return { key: limitKeys[name] as keyof DeploymentLimit, deployment: colon === -1 ? undefined : window.slice(colon + 1) };
}

const encodedPrefix = 'whsec_';

/** Returns whether a text is a secret of Standard Webhooks: any text, or `whsec_` and 24 to 64 bytes in base64. */
function isWebhookSecret(secret: string): boolean {
  if (!secret.startsWith(encodedPrefix)) return true;
  const digits = /^([A-Za-z0-9+/]{32,86})={0,2}$/.exec(secret.slice(encodedPrefix.length))?.[1];
  return digits !== undefined && digits.length % 4 !== 1;
}

/** A webhook that Parley sends when usage reaches a threshold of a limit. */
const AlertEntry = strict(
  {
    of: Type.Refine(
      text(
        'Owner of the limit: `project:`, `key:`, `role:`, or `user:`, followed by a name, or `*` for each user. An alert of a role watches each user with the role separately.',
      ),
      (of) => parseAlertScope(of) !== undefined,
      () => `must be *, or a name after ${scopes.map((scope) => `${scope}:`).join(', ')}, such as project:search`,
    ),
    window: Type.Refine(
      text(
        'Kind and period of the limit, such as `cost.month`. For a limit on one deployment, add its ID, such as `tokens.day:gpt`. For each deployment, add `:*`.',
      ),
      (window) => parseAlertWindow(window) !== undefined,
      () =>
        `must be one of ${Object.keys(costKeys).join(', ')}, or one of ${Object.keys(limitKeys).join(', ')}, optionally with a deployment, such as tokens.day:gpt`,
    ),
    at: Type.Refine(
      Type.Array(Type.Number({ minimum: 0, maximum: 1 }), {
        minItems: 1,
        maxItems: 20,
        default: [0.8, 1],
        description: 'Thresholds as fractions of the limit, from 0 to 1. Parley sends one webhook for each threshold and period.',
      }),
      (at) => new Set(at).size === at.length,
      () => 'must not name a value twice',
    ),
    url: httpUrl('Address that receives the webhook. It can be in a private network.'),
    secret: Type.Refine(
      secretLine('Secret of the signature: any text, or `whsec_` and 24 to 64 bytes in base64.'),
      isWebhookSecret,
      () => 'must have 24 to 64 bytes in base64 after whsec_',
    ),
  },
  { description: 'A webhook that Parley sends when usage reaches a threshold of a limit.' },
);
export type AlertEntry = Static<typeof AlertEntry>;

/** Webhooks about limits. */
export const AlertSettings = Type.Array(AlertEntry, {
  default: [],
  maxItems: 1000,
  description: 'Webhooks about limits. See [Alerts](limits.md#alerts).',
});
