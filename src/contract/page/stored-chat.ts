import { type Static, Type } from 'typebox';

const idPattern = '^[A-Za-z0-9_-]{1,64}$';
/** Pattern of the IDs of chats and turns. */
// Pattern bound: linear. It is anchored, and at most 64 characters match.
export const chatIdPattern = new RegExp(idPattern);

const timestamp = Type.Integer({ minimum: 0, maximum: 8_640_000_000_000_000, description: 'Milliseconds since the epoch.' });
const id = Type.String({ pattern: idPattern });

/** A turn of a chat. Unknown fields are kept. */
export const ChatTurn = Type.Object(
  {
    id,
    parent: Type.String({ pattern: '^[A-Za-z0-9_-]{0,64}$', description: 'ID of the previous turn. Empty for the first turn.' }),
    kind: Type.Enum(['question', 'reply']),
    atMs: timestamp,
    text: Type.String({ description: 'Text for searches.' }),
  },
  { additionalProperties: true },
);
export type ChatTurn = Static<typeof ChatTurn>;

/** Body of a request that shares a chat. */
export const NewShare = Type.Object(
  {
    expiresInDays: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 365, description: 'Days until the link expires. Default: 30.' }),
    ),
    deploymentNames: Type.Optional(
      Type.Record(Type.String(), Type.String({ maxLength: 1000 }), {
        maxProperties: 100,
        description: 'Displayed names by deployment ID, for readers without access to a deployment.',
      }),
    ),
  },
  { additionalProperties: false },
);
export type NewShare = Static<typeof NewShare>;

/** Fields of a chat that lists display. */
export const chatHeadFields = {
  title: Type.String({ maxLength: 1000 }),
  deployment: Type.String({ maxLength: 1000 }),
  createdAtMs: timestamp,
  tags: Type.Array(Type.String({ minLength: 1, maxLength: 60 }), { maxItems: 20 }),
} as const;

const flag = (description: string) => Type.Boolean({ description });

/** Flags of a chat. */
export const chatFlags = {
  pinned: flag('Whether lists show the chat first.'),
  archived: flag('Whether the chat appears only in lists of archived chats.'),
} as const;

/**
 * Changes to a chat. Fields replace stored fields, and turns replace stored turns with the same IDs. Unknown fields are kept, but
 * lists do not include them.
 */
export const ChatPatch = Type.Object(
  {
    title: Type.Optional(chatHeadFields.title),
    deployment: Type.Optional(chatHeadFields.deployment),
    createdAtMs: Type.Optional(chatHeadFields.createdAtMs),
    tags: Type.Optional(chatHeadFields.tags),
    pinned: Type.Optional(chatFlags.pinned),
    archived: Type.Optional(chatFlags.archived),
    updatedAtMs: Type.Optional(timestamp),
    settings: Type.Optional(Type.Object({}, { additionalProperties: true })),
    shown: Type.Optional(Type.Record(Type.String(), Type.String(), { description: 'ID of the visible next turn, by turn ID.' })),
    turns: Type.Optional(Type.Array(ChatTurn, { maxItems: 1000, description: 'New or changed turns.' })),
  },
  { additionalProperties: true },
);
export type ChatPatch = Static<typeof ChatPatch>;
