import { type ConsentForm, isSameForm, requiresConsent } from '#contract/consent.ts';
import { ParleyError } from '#contract/errors/errors.ts';
import type { Caller } from '../callers/caller.ts';
import type { ConfigSnapshot } from '../deployments/config-snapshot.ts';
import type { Deployment } from '../deployments/deployment.ts';
import { type DependencyGraph, type OpenDependencies, walkDependencies } from './dependency-graph.ts';

export interface ConsentDeps {
  readonly store: ConsentStore;
  readonly openDependencies: OpenDependencies;
  /** Called with each resolved graph. */
  readonly onDependencyGraph: (graph: DependencyGraph) => void;
}

/** Caller, deployment, and configuration that a consent applies to. */
export interface ConsentContext {
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
  { caller, deployment, snapshot }: ConsentContext,
): Promise<ConsentForm> {
  const graph = await walkDependencies(deployment, deps.openDependencies(snapshot, caller));
  deps.onDependencyGraph(graph);
  return toConsentForm(graph);
}

/** Returns the form of a deployment, and whether the caller's user accepted it (docs/consent.md). */
export async function getConsentStatus(deps: ConsentDeps, context: ConsentContext): Promise<ConsentStatus> {
  const form = await buildConsentForm(deps, context);
  if (requiresNoConsent(form)) return { form, isAccepted: true };
  const stored = await deps.store.find(context.caller.subject, context.deployment.id);
  return { form, isAccepted: stored !== undefined && isSameForm(stored.form, form) };
}

/** Returns the form of a graph. It includes deployments that the caller may not use. */
export function toConsentForm({ deployments }: Pick<DependencyGraph, 'deployments'>): ConsentForm {
  return Object.fromEntries(deployments.map((deployment) => [deployment.id, { consentRequired: isConsentRequired(deployment) }]));
}

/** Returns whether other deployments need the user's consent to call this one. */
function isConsentRequired({ features }: Deployment): boolean {
  return features.consentRequired === true;
}

/** Returns whether a form requires no consent. */
export function requiresNoConsent(form: ConsentForm): boolean {
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
  /** Resolves when the consent is no longer used on any node. Has no effect if it does not exist. */
  delete(subject: string, deployment: string): Promise<void>;
  /** Returns the consents of a user, ordered by deployment. */
  list(subject: string): Promise<readonly StoredConsent[]>;
}

/** Throws `consent_required` if the user has not given a required consent. Returns undefined if the call requires no consent. */
export type RequireConsent = (context: ConsentContext) => Promise<void> | undefined;

/** Creates the check of docs/consent.md. Only calls that require consent cause a lookup. */
export function createRequireConsent(deps: ConsentDeps): RequireConsent {
  return (context) => {
    const { caller, deployment, snapshot } = context;
    if (caller.chain !== null) {
      return isConsentRequired(deployment) ? requireOnPath(deps, context, caller.chain.path) : undefined;
    }
    return snapshot.configuration.consent.directCalls === 'require' ? requireAccepted(deps, context) : undefined;
  };
}

/** Uses the form that the user accepted for the root, regardless of later changes in the graph. */
async function requireOnPath({ store }: ConsentDeps, context: ConsentContext, path: readonly string[]): Promise<void> {
  const { caller, deployment } = context;
  const [root = deployment.id] = path;
  const stored = await store.find(caller.subject, root);
  if (stored === undefined)
    throw createConsentMissingError(context, root, `. GET ${toConsentPath(root)} returns the form to accept`);
  const isCovered = requiresConsent(stored.form, deployment.id) === true;
  const uncovered = path.find((id) => requiresConsent(stored.form, id) === undefined) ?? (isCovered ? undefined : deployment.id);
  if (uncovered === undefined) return;
  const hint = `, and your consent does not cover ${uncovered}. GET ${toConsentPath(root)} returns the current form`;
  throw createConsentMissingError(context, root, hint);
}

async function requireAccepted(deps: ConsentDeps, context: ConsentContext): Promise<void> {
  const { isAccepted, form } = await getConsentStatus(deps, context);
  if (isAccepted) return;
  const { deployment } = context;
  const claim = `${getName(deployment)} needs your consent before it answers`;
  throw new ParleyError('consent_required', `${claim}. GET ${toConsentPath(deployment.id)} returns the form to accept.`, {
    members: { deployment: deployment.id, consent: form },
  });
}

/** Users also see this message, so it starts without technical terms. `hint` is for API clients. */
function createConsentMissingError({ deployment, snapshot }: ConsentContext, root: string, hint: string): ParleyError {
  const rootDeployment = snapshot.deployments.get(root) ?? { id: root };
  return new ParleyError(
    'consent_required',
    `${getName(deployment)} needs your consent before ${getName(rootDeployment)} may use it${hint}.`,
    { members: { deployment: root } },
  );
}

function getName({ id, displayName = id }: Pick<Deployment, 'id'> & Partial<Deployment>): string {
  return displayName;
}

function toConsentPath(root: string): string {
  return `/v1/consent/${root.split('/').map(encodeURIComponent).join('/')}`;
}
