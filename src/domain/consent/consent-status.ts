import { type ConsentForm, isSameForm } from '#contract/consent.ts';
import type { Caller } from '../callers/caller.ts';
import type { ConfigSnapshot } from '../deployments/config-snapshot.ts';
import type { Deployment } from '../deployments/deployment.ts';
import { isNothingRequired, toConsentForm } from './consent-form.ts';
import type { ConsentStore } from './consent-store.ts';
import { type DependencyGraph, type OpenDependencies, walkDependencies } from './dependency-graph.ts';

export interface ConsentDeps {
  readonly store: ConsentStore;
  readonly dependencies: OpenDependencies;
  /** Called with each graph that was walked. */
  readonly noteGraph: (graph: DependencyGraph) => void;
}

/** Whose consent to which deployment, under which configuration. */
export interface Consenting {
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
export async function formOf(deps: ConsentDeps, { caller, deployment, snapshot }: Consenting): Promise<ConsentForm> {
  const graph = await walkDependencies(deployment, deps.dependencies(snapshot, caller));
  deps.noteGraph(graph);
  return toConsentForm(graph);
}

/** The form of a deployment, and whether the caller's user has accepted it (docs/wire.md, Consent). */
export async function consentStatusOf(deps: ConsentDeps, consenting: Consenting): Promise<ConsentStatus> {
  const form = await formOf(deps, consenting);
  if (isNothingRequired(form)) return { form, isAccepted: true };
  const stored = await deps.store.find(consenting.caller.subject, consenting.deployment.id);
  return { form, isAccepted: stored !== undefined && isSameForm(stored.form, form) };
}
