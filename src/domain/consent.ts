import { type ConsentForm, requiresConsent } from '#contract/consent.ts';
import { ParleyError } from '#contract/errors.ts';
import { isConsentRequired } from './consent-form.ts';
import { type Consenting, type ConsentTools, consentStandingOf } from './consent-standing.ts';
import type { Deployment } from './deployment.ts';

/** Throws `consent_required` where a call needs a consent of the user that is not there; undefined where none is needed. */
export type RequireConsent = (consenting: Consenting) => Promise<void> | undefined;

/** The check of contract 6. Only a call that needs a consent costs a look-up. */
export function createRequireConsent(tools: ConsentTools): RequireConsent {
  return (consenting) => {
    const { caller, deployment, directory } = consenting;
    if (caller.chain !== null) {
      return isConsentRequired(deployment) ? requireOnPath(tools, consenting, caller.chain.path) : undefined;
    }
    return directory.configuration.consent.directCalls === 'require' ? requireAccepted(tools, consenting) : undefined;
  };
}

/** What counts is the form that the user accepted for the root, whatever the graph has become since. */
async function requireOnPath(
  { store }: ConsentTools,
  { caller, deployment }: Consenting,
  path: readonly string[],
): Promise<void> {
  const [root = deployment.id] = path;
  const stored = await store.find(caller.subject, root);
  if (stored === undefined) throw notGiven(deployment, root);
  const uncovered = path.find((id) => requiresConsent(stored.form, id) === undefined) ?? toUncovered(stored.form, deployment);
  if (uncovered !== undefined) throw notCovered(deployment, root, uncovered);
}

function toUncovered(form: ConsentForm, { id }: Deployment): string | undefined {
  return requiresConsent(form, id) === true ? undefined : id;
}

async function requireAccepted(tools: ConsentTools, consenting: Consenting): Promise<void> {
  const { isAccepted } = await consentStandingOf(tools, consenting);
  if (!isAccepted) throw notGiven(consenting.deployment, consenting.deployment.id);
}

function notGiven({ id }: Deployment, root: string): ParleyError {
  return new ParleyError(
    'consent_required',
    `A call to ${id} needs the consent of the user to ${root}; GET ${toConsentPath(root)} has the form to accept.`,
  );
}

function notCovered({ id }: Deployment, root: string, uncovered: string): ParleyError {
  return new ParleyError(
    'consent_required',
    `A call to ${id} needs the consent of the user to ${root}, and the one given does not cover ${uncovered}; GET ${toConsentPath(root)} has the form of today.`,
  );
}

function toConsentPath(root: string): string {
  return `/v1/consent/${root.split('/').map(encodeURIComponent).join('/')}`;
}
