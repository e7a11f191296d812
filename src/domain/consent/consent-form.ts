import type { ConsentForm } from '#contract/consent.ts';
import type { Deployment } from '../deployments/deployment.ts';
import type { DependencyGraph } from './dependency-graph.ts';

/** The form of a graph: every deployment in it, also those that the caller itself may not use. */
export function toConsentForm({ deployments }: Pick<DependencyGraph, 'deployments'>): ConsentForm {
  return Object.fromEntries(deployments.map((each) => [each.id, { consentRequired: isConsentRequired(each) }]));
}

/** Whether others need the user's consent to call it. */
export function isConsentRequired({ features }: Deployment): boolean {
  return features.consentRequired === true;
}

/** Whether there is nothing in a form to consent to. */
export function isNothingRequired(form: ConsentForm): boolean {
  return Object.values(form).every(({ consentRequired }) => !consentRequired);
}
