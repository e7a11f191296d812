import { type Static, Type } from 'typebox';

const mostItems = 100;

/** What is asked for by a user who makes a key. */
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
        maxItems: mostItems,
        description: 'Ids of the deployments that may be called with it. Absent: all that the user may call. Empty: none.',
      }),
    ),
    allowedIps: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 64 }), {
        maxItems: mostItems,
        description: 'Addresses and networks (CIDR) that it may be used from. Absent: any. Empty: none.',
      }),
    ),
  },
  { additionalProperties: false },
);
export type NewKey = Static<typeof NewKey>;

/** What is asked for by a user who has a key replaced. */
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
