import { complete } from '#contract/configuration/complete.ts';
import { ApplicationEntry } from '#contract/configuration/deployments.ts';
import { madeByUsers } from './application-place.ts';
import type { ApplicationStore, StoredApplication } from './application-store.ts';
import type { Deployment } from './deployment.ts';
import { type Directory, toApplication } from './directory.ts';

/** Where deployments are found: those of the configuration, and those made through the API, which every node sees at once. */
export class Catalog {
  readonly #applications: ApplicationStore;

  constructor(applications: ApplicationStore) {
    this.#applications = applications;
  }

  /** At once for one of the configuration. Rejects with StoreFault. */
  find(directory: Directory, id: string): Deployment | undefined | Promise<Deployment | undefined> {
    const configured = directory.deployments.get(id);
    return configured === undefined && id.startsWith(madeByUsers) ? this.#made(id) : configured;
  }

  /** All there are, whoever may use them. Rejects with StoreFault. */
  async list(directory: Directory): Promise<readonly Deployment[]> {
    const made = await this.#applications.list(undefined);
    return [...directory.deployments.values(), ...made.map(toDeployment)];
  }

  async #made(id: string): Promise<Deployment | undefined> {
    const stored = await this.#applications.find(id);
    return stored && toDeployment(stored);
  }
}

/** Stored is what its maker wrote: the defaults are those of today. */
function toDeployment({ id, entry, owner, createdAtMs, updatedAtMs }: StoredApplication): Deployment {
  return toApplication(id, complete(ApplicationEntry, entry) as ApplicationEntry, { owner, createdAtMs, updatedAtMs });
}
