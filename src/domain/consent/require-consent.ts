import { type ConsentForm, requiresConsent } from '#contract/consent.ts';
import { ParleyError } from '#contract/errors/errors.ts';
import type { Deployment } from '../deployments/deployment.ts';
import { type ConsentDeps, type ConsentSubject, getConsentStatus, isConsentRequired } from './consent.ts';

/** Throws `consent_required` if the user has not given a required consent. Returns undefined if the call requires no consent. */
export type RequireConsent = (consenting: ConsentSubject) => Promise<void> | undefined;

/** Creates the check of docs/consent.md. Only calls that require consent cause a lookup. */
export function createRequireConsent(deps: ConsentDeps): RequireConsent {
  return (consenting) => {
    const { caller, deployment, snapshot } = consenting;
    if (caller.chain !== null) {
      return isConsentRequired(deployment) ? requireOnPath(deps, consenting, caller.chain.path) : undefined;
    }
    return snapshot.configuration.consent.directCalls === 'require' ? requireAccepted(deps, consenting) : undefined;
  };
}

/** Uses the form that the user accepted for the root, regardless of later changes in the graph. */
async function requireOnPath({ store }: ConsentDeps, consenting: ConsentSubject, path: readonly string[]): Promise<void> {
  const { caller, deployment } = consenting;
  const [root = deployment.id] = path;
  const stored = await store.find(caller.subject, root);
  if (stored === undefined) throw consentMissing(consenting, root, `. GET ${toConsentPath(root)} returns the form to accept`);
  const uncovered = path.find((id) => requiresConsent(stored.form, id) === undefined) ?? toUncovered(stored.form, deployment);
  if (uncovered === undefined) return;
  const hint = `, and your consent does not cover ${uncovered}. GET ${toConsentPath(root)} returns the current form`;
  throw consentMissing(consenting, root, hint);
}

function toUncovered(form: ConsentForm, { id }: Deployment): string | undefined {
  return requiresConsent(form, id) === true ? undefined : id;
}

async function requireAccepted(deps: ConsentDeps, consenting: ConsentSubject): Promise<void> {
  const { isAccepted, form } = await getConsentStatus(deps, consenting);
  if (isAccepted) return;
  const { deployment } = consenting;
  const claim = `${getName(deployment)} needs your consent before it answers`;
  throw new ParleyError('consent_required', `${claim}. GET ${toConsentPath(deployment.id)} returns the form to accept.`, {
    members: { deployment: deployment.id, consent: form },
  });
}

/** Users also see this message, so it starts without technical terms. `hint` is for API clients. */
function consentMissing({ deployment, snapshot }: ConsentSubject, root: string, hint: string): ParleyError {
  const user = snapshot.deployments.get(root) ?? { id: root };
  return new ParleyError(
    'consent_required',
    `${getName(deployment)} needs your consent before ${getName(user)} may use it${hint}.`,
    { members: { deployment: root } },
  );
}

function getName({ id, displayName = id }: Pick<Deployment, 'id'> & Partial<Deployment>): string {
  return displayName;
}

function toConsentPath(root: string): string {
  return `/v1/consent/${root.split('/').map(encodeURIComponent).join('/')}`;
}
