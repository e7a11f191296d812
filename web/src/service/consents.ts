import { filterObjects, toObject } from '#base/json/json.ts';
import { encodePath, type Service } from './service.ts';
import { parseConsentForm } from './service-error.ts';

/** Whether each deployment that an application can call requires consent, by deployment ID. */
export type ConsentForm = ReadonlyMap<string, boolean>;

export interface ConsentStatus {
  readonly isAccepted: boolean;
  /** Empty if no consent is required. */
  readonly form: ConsentForm;
}

export interface AcceptedConsent {
  readonly deployment: string;
  readonly form: ConsentForm;
  readonly acceptedAtMs: number;
}

export async function readConsent(service: Service, id: string): Promise<ConsentStatus> {
  const answer = await service.json(`v1/consent/${encodePath(id)}`);
  const { accepted, consent } = toObject(answer);
  return { isAccepted: accepted === true, form: toForm(consent) };
}

/** Accepts the displayed form. Throws `ServiceError` with `consent_outdated` if it has changed. */
export async function acceptConsent(service: Service, id: string, form: ConsentForm): Promise<void> {
  const consent = Object.fromEntries([...form].map(([id, consentRequired]) => [id, { consentRequired }]));
  await service.send(`v1/consent/${encodePath(id)}`, { method: 'POST', body: { consent } });
}

export async function withdrawConsent(service: Service, id: string): Promise<void> {
  await service.send(`v1/consent/${encodePath(id)}`, { method: 'DELETE' });
}

export async function listConsents(service: Service): Promise<readonly AcceptedConsent[]> {
  const answer = await service.json('v1/consent');
  const items = filterObjects(toObject(answer).data);
  return items.map(({ deployment, consent, acceptedAt }) => ({
    deployment: String(deployment),
    form: toForm(consent),
    acceptedAtMs: Number(acceptedAt),
  }));
}

function toForm(consent: unknown): ConsentForm {
  return new Map(Object.entries(parseConsentForm(toObject(consent))));
}
