import { Type } from 'typebox';
import { isJsonObject } from '#base/json/json.ts';
import { truncate } from '#base/text/truncate.ts';
import { formatPath } from './configuration/issue.ts';
import { isDeploymentId } from './deployment-path.ts';
import { ParleyError } from './errors/errors.ts';
import { createRequestError } from './errors/request-error.ts';

/**
 * A consent form: all deployments that can be reached on behalf of the user, and whether they require consent (docs/wire.md,
 * Consent).
 */
export type ConsentForm = Readonly<Record<string, { readonly consentRequired: boolean }>>;

/** Maximum number of deployments in a form. */
export const maxConsentFormDeployments = 10_000;

/** The body that accepts a form, for the API description. `parseConsentForm` validates it. */
export const ConsentBody = Type.Object(
  {
    consent: Type.Record(
      Type.String({ maxLength: 1024 }),
      Type.Object({ consentRequired: Type.Boolean() }, { additionalProperties: false }),
      { maxProperties: maxConsentFormDeployments },
    ),
  },
  { additionalProperties: false },
);

const maxDisplayedChars = 64;

/** Parses the form in `{"consent": {…}}`. Ignores other keys. Throws `invalid_request` for the first error. */
export function parseConsentForm(body: unknown): ConsentForm {
  if (!isJsonObject(body))
    throw new ParleyError('invalid_request', 'The body must be an object with the form in the field consent.');
  const { consent } = body;
  if (consent === undefined) throw createRequestError('consent', 'is required');
  if (!isJsonObject(consent)) throw createRequestError('consent', 'must be an object');
  const items = Object.entries(consent);
  if (items.length > maxConsentFormDeployments)
    throw createRequestError('consent', `must hold at most ${maxConsentFormDeployments} deployments`);
  return Object.fromEntries(items.map(([id, item]) => [id, parseItem(id, item)]));
}

/** Returns whether two forms are equal, regardless of order. */
export function isSameForm(left: ConsentForm, right: ConsentForm): boolean {
  const ids = Object.keys(left);
  return ids.length === Object.keys(right).length && ids.every((id) => requiresConsent(left, id) === requiresConsent(right, id));
}

/** Returns whether a deployment requires consent, or undefined if it is not in the form. */
export function requiresConsent(form: ConsentForm, id: string): boolean | undefined {
  return Object.hasOwn(form, id) ? form[id]?.consentRequired : undefined;
}

function parseItem(id: string, item: unknown): { consentRequired: boolean } {
  const at = (...keys: string[]) => formatPath(['consent', ...[id, ...keys].map((key) => truncate(key, maxDisplayedChars))]);
  if (!isDeploymentId(id)) throw createRequestError(at(), 'is not a valid deployment ID');
  if (!isJsonObject(item)) throw createRequestError(at(), 'must be an object with consentRequired');
  const unknown = Object.keys(item).find((key) => key !== 'consentRequired');
  if (unknown !== undefined)
    throw createRequestError(at(unknown), 'is not a known field. The only field of an item is consentRequired');
  const { consentRequired } = item;
  if (consentRequired === undefined) throw createRequestError(at('consentRequired'), 'is required');
  if (typeof consentRequired !== 'boolean') throw createRequestError(at('consentRequired'), 'must be a boolean');
  return { consentRequired };
}
