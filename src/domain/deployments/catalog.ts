import { readStoredEntry } from '#contract/configuration/application-entry.ts';
import type { Caller } from '../callers/caller.ts';
import { applicationPrefix, toStoredId } from './application-location.ts';
import { type ApplicationStore, type StoredApplication, toPublicId } from './application-store.ts';
import { type ConfigSnapshot, toApplication } from './config-snapshot.ts';
import type { Deployment } from './deployment.ts';

/** Where deployments are found: those of the configuration, and those made through the API, which every node sees at once. */
export class Catalog {
  readonly #applications: ApplicationStore;
  /** A store gives the same object as long as an application is as it was: then the deployment is the same too. */
  readonly #deployments = new WeakMap<StoredApplication, Deployment>();

  constructor(applications: ApplicationStore) {
    this.#applications = applications;
  }

  /** At once for one of the configuration. Rejects with StoreFault. */
  find(snapshot: ConfigSnapshot, id: string): Deployment | undefined | Promise<Deployment | undefined> {
    const configured = snapshot.deployments.get(id);
    return configured === undefined && id.startsWith(applicationPrefix) ? this.#findApplication(id) : configured;
  }

  /** Looks up several IDs, all those of the API in one query. A missing one is undefined. Rejects with StoreFault. */
  async findAll(snapshot: ConfigSnapshot, ids: readonly string[]): Promise<ReadonlyMap<string, Deployment | undefined>> {
    const deployments = new Map(ids.map((id) => [id, snapshot.deployments.get(id)]));
    const applicationIds = [...deployments].flatMap(([id, configured]) =>
      configured === undefined && id.startsWith(applicationPrefix) ? [id] : [],
    );
    if (applicationIds.length === 0) return deployments;
    const stored = await this.#applications.findAll([...new Set(applicationIds.flatMap((id) => [toStoredId(id), id]))]);
    const byId = new Map(stored.map((application) => [application.id, application]));
    for (const id of applicationIds) {
      const application = byId.get(toStoredId(id)) ?? byId.get(id);
      deployments.set(id, application && this.#toDeployment(application));
    }
    return deployments;
  }

  /** All of the configuration, and of those made by users the ones that are this caller's or name one of its roles. Rejects with StoreFault. */
  async list(snapshot: ConfigSnapshot, caller: Pick<Caller, 'subject' | 'roles'>): Promise<readonly Deployment[]> {
    const applications = await this.#applications.listOpen(caller);
    return [...snapshot.deployments.values(), ...applications.map((stored) => this.#toDeployment(stored))];
  }

  /** The one that was made, by what it is kept under. Rejects with StoreFault. */
  async findStored(id: string): Promise<Deployment | undefined> {
    const stored = await this.#applications.find(id);
    return stored && this.#toDeployment(stored);
  }

  /** One of the versions of an application that was made, by its id as it is told. Rejects with StoreFault. */
  async findVersion(id: string, version: number): Promise<Deployment | undefined> {
    const storedId = toStoredId(id);
    const stored = await this.#applications.findVersion(storedId, version);
    const match = stored ?? (storedId === id ? undefined : await this.#applications.findVersion(id, version));
    return match && this.#toDeployment(match);
  }

  /** By its id as it is told, else by the decoded one. */
  async #findApplication(id: string): Promise<Deployment | undefined> {
    const storedId = toStoredId(id);
    const deployment = await this.findStored(storedId);
    return deployment === undefined && storedId !== id ? this.findStored(id) : deployment;
  }

  /** Stored is what its maker wrote: the defaults are those of today. */
  #toDeployment(stored: StoredApplication): Deployment {
    const cached = this.#deployments.get(stored);
    if (cached !== undefined) return cached;
    const { entry, owner, createdAtMs, updatedAtMs } = stored;
    const { entry: completed, issue } = readStoredEntry(entry);
    const application = toApplication(toPublicId(stored), completed, { owner, createdAtMs, updatedAtMs });
    const deployment = issue === undefined ? application : { ...application, issue };
    this.#deployments.set(stored, deployment);
    return deployment;
  }
}
