import { Type } from 'typebox';
import { isJsonObject } from '#base/json/json.ts';
import { truncate } from '#base/text/shorten.ts';
import { formatPath } from './configuration/fault.ts';
import { isDeploymentId } from './deployment-path.ts';
import { ParleyError } from './errors/errors.ts';
import { requestFault } from './errors/request-error.ts';

/** A consent form: every deployment that can be reached on the user's behalf, and whether it requires consent (docs/wire.md, Consent). */
export type ConsentForm = Readonly<Record<string, { readonly consentRequired: boolean }>>;

/** How many deployments a form may hold. */
export const mostInConsentForm = 10_000;

/** The body that accepts a form, for documents. `parseConsentForm` checks it. */
export const ConsentBody = Type.Object(
  {
    consent: Type.Record(
      Type.String({ maxLength: 1024 }),
      Type.Object({ consentRequired: Type.Boolean() }, { additionalProperties: false }),
      { maxProperties: mostInConsentForm },
    ),
  },
  { additionalProperties: false },
);

const longestShown = 64;

/** The form out of `{"consent": {…}}`; other keys beside `consent` are passed over. Throws invalid_request for the first fault. */
export function parseConsentForm(body: unknown): ConsentForm {
  if (!isJsonObject(body)) throw new ParleyError('invalid_request', 'The body must be an object with the form under consent.');
  const { consent } = body;
  if (consent === undefined) throw requestFault('consent', 'is required');
  if (!isJsonObject(consent)) throw requestFault('consent', 'must be an object');
  const items = Object.entries(consent);
  if (items.length > mostInConsentForm) throw requestFault('consent', `must hold at most ${mostInConsentForm} deployments`);
  return Object.fromEntries(items.map(([id, item]) => [id, parseItem(id, item)]));
}

/** Whether two forms say the same, in whatever order. */
export function isSameForm(one: ConsentForm, other: ConsentForm): boolean {
  const ids = Object.keys(one);
  return ids.length === Object.keys(other).length && ids.every((id) => requiresConsent(one, id) === requiresConsent(other, id));
}

/** What a form says of a deployment; undefined if it is not in the form. */
export function requiresConsent(form: ConsentForm, id: string): boolean | undefined {
  return Object.hasOwn(form, id) ? form[id]?.consentRequired : undefined;
}

function parseItem(id: string, item: unknown): { consentRequired: boolean } {
  const at = (...keys: string[]) => formatPath(['consent', ...[id, ...keys].map((key) => truncate(key, longestShown))]);
  if (!isDeploymentId(id)) throw requestFault(at(), 'cannot be the id of a deployment');
  if (!isJsonObject(item)) throw requestFault(at(), 'must be an object with consentRequired');
  const unknown = Object.keys(item).find((key) => key !== 'consentRequired');
  if (unknown !== undefined) throw requestFault(at(unknown), 'is not known; an item of a form has consentRequired only');
  const { consentRequired } = item;
  if (consentRequired === undefined) throw requestFault(at('consentRequired'), 'is required');
  if (typeof consentRequired !== 'boolean') throw requestFault(at('consentRequired'), 'must be a boolean');
  return { consentRequired };
}
