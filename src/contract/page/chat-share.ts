import { type Static, Type } from 'typebox';

/** What is asked for by who shares a chat. */
export const NewShare = Type.Object(
  {
    expiresInDays: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 365, description: 'Days until the link leads nowhere any more; 30 if absent.' }),
    ),
  },
  { additionalProperties: false },
);
export type NewShare = Static<typeof NewShare>;
