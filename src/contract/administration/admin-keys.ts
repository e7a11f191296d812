import { Type } from 'typebox';
import { KeyEntry } from '../configuration/access.ts';

const { project, roles, name, expiresAt, allowedIps, deployments, limits, totals, costLimit, reset } = KeyEntry.properties;

/** Body that creates a key. Parley chooses the ID and the secret. */
export const NewAdminKey = Type.Object(
  { project, roles, name, expiresAt, allowedIps, deployments, limits, totals, costLimit, reset },
  { additionalProperties: false },
);

/** Body that exchanges the token of the first start for an admin key. */
export const FirstStartBody = Type.Object(
  { token: Type.String({ minLength: 1, maxLength: 200, description: 'Token from the log of the node that answers.' }) },
  { additionalProperties: false },
);

/** Maximum overlap of a rotation: 30 days. */
const maxOverlapSeconds = 30 * 24 * 60 * 60;

/** Body that rotates a key. */
export const AdminKeyRotation = Type.Object(
  {
    overlapSeconds: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: maxOverlapSeconds,
        description: 'Overlap in seconds. The previous key stays valid during this time. Default: 0.',
      }),
    ),
  },
  { additionalProperties: false },
);
