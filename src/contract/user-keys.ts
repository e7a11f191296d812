import { type Static, Type } from 'typebox';

const maxItems = 100;

/** Body of a request that creates a key. */
export const NewKey = Type.Object(
  {
    name: Type.Optional(
      Type.String({ minLength: 1, maxLength: 100, description: 'What the user calls it, in one line. Absent: nothing.' }),
    ),
    expiresAt: Type.Optional(
      Type.Integer({ minimum: 0, description: 'Milliseconds since the epoch. Absent: `days`, else as late as it may be.' }),
    ),
    days: Type.Optional(Type.Integer({ minimum: 1, description: 'Days that it lives; not beside `expiresAt`.' })),
    deployments: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 1024 }), {
        maxItems: maxItems,
        description: 'Ids of the deployments that may be called with it. Absent: all that the user may call. Empty: none.',
      }),
    ),
    allowedIps: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 64 }), {
        maxItems: maxItems,
        description: 'Addresses and networks (CIDR) that it may be used from. Absent: any. Empty: none.',
      }),
    ),
  },
  { additionalProperties: false },
);
export type NewKey = Static<typeof NewKey>;

/** The body of a request that blocks a user. */
export const BlockedUserBody = Type.Object(
  {
    reason: Type.Optional(Type.String({ maxLength: 1000, description: 'A note for administrators. The user does not see it.' })),
  },
  { additionalProperties: false },
);
export type BlockedUserBody = Static<typeof BlockedUserBody>;

/** Body of a request that rotates a key. */
export const KeyRotation = Type.Object(
  {
    overlapSeconds: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 604_800,
        description: 'Seconds for which the key before is taken beside the new one, up to a week. Absent: 0.',
      }),
    ),
  },
  { additionalProperties: false },
);
export type KeyRotation = Static<typeof KeyRotation>;

const text = { type: 'string' };
const time = { type: 'integer', description: 'Milliseconds since the epoch.' };

/** JSON Schema of a key for users and administrators. */
export const userKeyFields = {
  properties: {
    id: text,
    name: { type: 'string', description: 'Empty if its user gave it none.' },
    prefix: { type: 'string', description: 'How the key begins.' },
    createdAt: time,
    lastUsedAt: { type: ['integer', 'null'], description: 'Milliseconds since the epoch; null: never.' },
    expiresAt: time,
    deployments: { type: 'array', items: text, description: 'Absent: all that the user may call.' },
    allowedIps: { type: 'array', items: text, description: 'Absent: any.' },
  },
  required: ['id', 'name', 'prefix', 'createdAt', 'lastUsedAt', 'expiresAt'],
};
