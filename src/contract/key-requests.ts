import { type Static, Type } from 'typebox';
import { KeyEntry } from './configuration/access.ts';

const maxItems = 100;

/** Body of a request that creates a key of a user. */
export const NewKey = Type.Object(
  {
    name: Type.Optional(
      Type.String({ minLength: 1, maxLength: 100, description: 'Name of the key, in one line. Default: no name.' }),
    ),
    expiresAt: Type.Optional(
      Type.Integer({
        minimum: 0,
        description: 'Milliseconds since the epoch. Default: the end of `days`. Without `days`, the latest allowed time.',
      }),
    ),
    days: Type.Optional(Type.Integer({ minimum: 1, description: 'Lifetime in days. Not allowed with `expiresAt`.' })),
    deployments: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 1024 }), {
        maxItems,
        description: 'IDs of the deployments that the key can call. Default: all that the user can call. Empty: none.',
      }),
    ),
    allowedIps: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 64 }), {
        maxItems,
        description: 'Addresses and networks (CIDR) that can use the key. Default: any. Empty: none.',
      }),
    ),
  },
  { additionalProperties: false },
);
export type NewKey = Static<typeof NewKey>;

/** Body of a request that blocks a user. */
export const BlockedUserBody = Type.Object(
  {
    reason: Type.Optional(Type.String({ maxLength: 1000, description: 'A note for administrators. The user does not see it.' })),
  },
  { additionalProperties: false },
);
export type BlockedUserBody = Static<typeof BlockedUserBody>;

/** Returns the schema of a body that rotates a key. */
function createRotation(maxOverlapSeconds: number, description: string) {
  return Type.Object(
    { overlapSeconds: Type.Optional(Type.Integer({ minimum: 0, maximum: maxOverlapSeconds, description })) },
    { additionalProperties: false },
  );
}

const daySeconds = 24 * 60 * 60;

/** Body of a request that rotates a key of a user. */
export const KeyRotation = createRotation(
  7 * daySeconds,
  'Overlap in seconds, up to one week. The previous key stays valid during this time. Default: 0.',
);
export type KeyRotation = Static<typeof KeyRotation>;

const text = { type: 'string' };
const time = { type: 'integer', description: 'Milliseconds since the epoch.' };

/** JSON Schema of a key for users and administrators. */
export const userKeyFields = {
  properties: {
    id: text,
    name: { type: 'string', description: 'Empty if the key has no name.' },
    prefix: { type: 'string', description: 'First characters of the key.' },
    createdAt: time,
    lastUsedAt: { type: ['integer', 'null'], description: 'Milliseconds since the epoch. null: never.' },
    expiresAt: time,
    deployments: { type: 'array', items: text, description: 'Absent: all that the user can call.' },
    allowedIps: { type: 'array', items: text, description: 'Absent: any.' },
  },
  required: ['id', 'name', 'prefix', 'createdAt', 'lastUsedAt', 'expiresAt'],
};

const { project, roles, name, expiresAt, allowedIps, deployments, limits, totals, costLimit, reset } = KeyEntry.properties;

/** Body of a request that creates a key of the configuration. Parley chooses the ID and the secret. */
export const NewAdminKey = Type.Object(
  { project, roles, name, expiresAt, allowedIps, deployments, limits, totals, costLimit, reset },
  { additionalProperties: false },
);

/** Body of a request that exchanges the token of the first start for an admin key. */
export const FirstStartBody = Type.Object(
  { token: Type.String({ minLength: 1, maxLength: 200, description: 'Token from the log of the node that answers.' }) },
  { additionalProperties: false },
);

/** Body of a request that rotates a key of the configuration. */
export const AdminKeyRotation = createRotation(
  30 * daySeconds,
  'Overlap in seconds. The previous key stays valid during this time. Default: 0.',
);
