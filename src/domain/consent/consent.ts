import { type ConsentForm, isSameForm } from '#contract/consent.ts';
import type { Caller } from '../callers/caller.ts';
import type { ConfigSnapshot } from '../deployments/config-snapshot.ts';
import type { Deployment } from '../deployments/deployment.ts';
import { type DependencyGraph, type OpenDependencies, walkDependencies } from './dependency-graph.ts';

export interface ConsentDeps {
  readonly store: ConsentStore;
  readonly dependencies: OpenDependencies;
  /** Called with each resolved graph. */
  readonly onGraph: (graph: DependencyGraph) => void;
}

/** Caller, deployment, and configuration that a consent applies to. */
export interface ConsentSubject {
  readonly caller: Caller;
  readonly deployment: Deployment;
  readonly snapshot: ConfigSnapshot;
}

/** State of a user's consent to a deployment. */
interface ConsentStatus {
  /** Current form. */
  readonly form: ConsentForm;
  /** Whether the form requires no consent, or the user accepted exactly this form. */
  readonly isAccepted: boolean;
}

/** Returns the consent form of a deployment under this configuration. */
export async function buildConsentForm(
  deps: ConsentDeps,
  { caller, deployment, snapshot }: ConsentSubject,
): Promise<ConsentForm> {
  const graph = await walkDependencies(deployment, deps.dependencies(snapshot, caller));
  deps.onGraph(graph);
  return toConsentForm(graph);
}

/** Returns the form of a deployment, and whether the caller's user accepted it (docs/consent.md). */
export async function getConsentStatus(deps: ConsentDeps, subject: ConsentSubject): Promise<ConsentStatus> {
  const form = await buildConsentForm(deps, subject);
  if (isNothingRequired(form)) return { form, isAccepted: true };
  const stored = await deps.store.find(subject.caller.subject, subject.deployment.id);
  return { form, isAccepted: stored !== undefined && isSameForm(stored.form, form) };
}

/** Returns the form of a graph. It includes deployments that the caller may not use. */
export function toConsentForm({ deployments }: Pick<DependencyGraph, 'deployments'>): ConsentForm {
  return Object.fromEntries(deployments.map((deployment) => [deployment.id, { consentRequired: isConsentRequired(deployment) }]));
}

/** Returns whether other deployments need the user's consent to call this one. */
export function isConsentRequired({ features }: Deployment): boolean {
  return features.consentRequired === true;
}

/** Returns whether a form requires no consent. */
export function isNothingRequired(form: ConsentForm): boolean {
  return Object.values(form).every(({ consentRequired }) => !consentRequired);
}

/** A form that a user accepted for a deployment. */
export interface StoredConsent {
  readonly deployment: string;
  readonly form: ConsentForm;
  /** Milliseconds since the epoch. */
  readonly acceptedAtMs: number;
}

/** Port that stores the consents of users, under `Users/<user_subject>/user_consent/<deployment_id>`. Throws `StoreError`. */
export interface ConsentStore {
  find(subject: string, deployment: string): Promise<StoredConsent | undefined>;
  /** Replaces the stored consent. The write is durable after it resolves. */
  put(subject: string, consent: StoredConsent): Promise<void>;
  /** Resolves after no node uses the consent. Has no effect if it does not exist. */
  delete(subject: string, deployment: string): Promise<void>;
  /** Returns the consents of a user, ordered by deployment. */
  list(subject: string): Promise<readonly StoredConsent[]>;
}
