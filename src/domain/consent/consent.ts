import { type ConsentForm, isSameForm } from '#contract/consent.ts';
import type { Caller } from '../callers/caller.ts';
import type { ConfigSnapshot } from '../deployments/config-snapshot.ts';
import type { Deployment } from '../deployments/deployment.ts';
import { type DependencyGraph, type OpenDependencies, walkDependencies } from './dependency-graph.ts';

export interface ConsentDeps {
  readonly store: ConsentStore;
  readonly dependencies: OpenDependencies;
  /** Called with each graph that was walked. */
  readonly noteGraph: (graph: DependencyGraph) => void;
}

/** Whose consent to which deployment, under which configuration. */
export interface ConsentSubject {
  readonly caller: Caller;
  readonly deployment: Deployment;
  readonly snapshot: ConfigSnapshot;
}

/** Where a user stands with a deployment. */
interface ConsentStatus {
  /** The form of today. */
  readonly form: ConsentForm;
  /** Whether nothing requires consent, or the user accepted this very form. */
  readonly isAccepted: boolean;
}

/** The form of a deployment under the configuration given. */
export async function buildConsentForm(
  deps: ConsentDeps,
  { caller, deployment, snapshot }: ConsentSubject,
): Promise<ConsentForm> {
  const graph = await walkDependencies(deployment, deps.dependencies(snapshot, caller));
  deps.noteGraph(graph);
  return toConsentForm(graph);
}

/** The form of a deployment, and whether the caller's user has accepted it (docs/wire.md, Consent). */
export async function getConsentStatus(deps: ConsentDeps, subject: ConsentSubject): Promise<ConsentStatus> {
  const form = await buildConsentForm(deps, subject);
  if (isNothingRequired(form)) return { form, isAccepted: true };
  const stored = await deps.store.find(subject.caller.subject, subject.deployment.id);
  return { form, isAccepted: stored !== undefined && isSameForm(stored.form, form) };
}

/** The form of a graph: every deployment in it, also those that the caller itself may not use. */
export function toConsentForm({ deployments }: Pick<DependencyGraph, 'deployments'>): ConsentForm {
  return Object.fromEntries(deployments.map((deployment) => [deployment.id, { consentRequired: isConsentRequired(deployment) }]));
}

/** Whether others need the user's consent to call it. */
export function isConsentRequired({ features }: Deployment): boolean {
  return features.consentRequired === true;
}

/** Whether there is nothing in a form to consent to. */
export function isNothingRequired(form: ConsentForm): boolean {
  return Object.values(form).every(({ consentRequired }) => !consentRequired);
}

/** What a user accepted for a deployment. */
export interface StoredConsent {
  readonly deployment: string;
  readonly form: ConsentForm;
  /** Milliseconds since the epoch. */
  readonly acceptedAtMs: number;
}

/** Port: the consents of users, kept as `Users/<user_subject>/user_consent/<deployment_id>`. Throws StoreFault. */
export interface ConsentStore {
  find(subject: string, deployment: string): Promise<StoredConsent | undefined>;
  /** Replaces what was stored; durable once it resolves. */
  put(subject: string, consent: StoredConsent): Promise<void>;
  /** Gone on every node once it resolves; nothing to do if there was none. */
  delete(subject: string, deployment: string): Promise<void>;
  /** A user's own, ordered by deployment. */
  list(subject: string): Promise<readonly StoredConsent[]>;
}
