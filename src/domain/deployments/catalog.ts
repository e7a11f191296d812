import { readStoredEntry } from '#contract/configuration/application-entry.ts';
import type { Caller } from '../callers/caller.ts';
import { applicationPrefix, toStoredId } from './application-location.ts';
import { type ApplicationStore, type StoredApplication, toPublicId } from './application-store.ts';
import { type ConfigSnapshot, toApplication } from './config-snapshot.ts';
import type { Deployment } from './deployment.ts';

/**
 * Finds deployments of the configuration, and applications that were created through the API. Every node sees changes of these
 * applications immediately.
 */
export class Catalog {
  readonly #applications: ApplicationStore;
  /** Cached deployments. A store returns the same object while an application is unchanged. */
  readonly #deployments = new WeakMap<StoredApplication, Deployment>();

  constructor(applications: ApplicationStore) {
    this.#applications = applications;
  }

  /** Returns synchronously for a configured deployment. Rejects with `StoreError`. */
  find(snapshot: ConfigSnapshot, id: string): Deployment | undefined | Promise<Deployment | undefined> {
    const configured = snapshot.deployments.get(id);
    return configured === undefined && id.startsWith(applicationPrefix) ? this.#findApplication(id) : configured;
  }

  /**
   * Looks up several IDs, with one query for all saved applications. A missing deployment is undefined. Rejects with
   * `StoreError`.
   */
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
      deployments.set(id, application && this.toDeployment(application));
    }
    return deployments;
  }

  /**
   * Returns all configured deployments, and the saved applications that the caller owns, or that list the caller or one of its
   * roles. Rejects with `StoreError`.
   */
  async list(snapshot: ConfigSnapshot, caller: Pick<Caller, 'subject' | 'roles'>): Promise<readonly Deployment[]> {
    const applications = await this.#applications.listAccessible(caller);
    return [...snapshot.deployments.values(), ...applications.map((stored) => this.toDeployment(stored))];
  }

  /** Returns a saved application by its ID in the store. Rejects with `StoreError`. */
  async findStored(id: string): Promise<Deployment | undefined> {
    const stored = await this.#applications.find(id);
    return stored && this.toDeployment(stored);
  }

  /** Returns a version of a saved application by its public ID. Rejects with `StoreError`. */
  async findVersion(id: string, version: number): Promise<Deployment | undefined> {
    const storedId = toStoredId(id);
    const stored = await this.#applications.findVersion(storedId, version);
    const match = stored ?? (storedId === id ? undefined : await this.#applications.findVersion(id, version));
    return match && this.toDeployment(match);
  }

  /** Finds an application by its decoded ID, otherwise by the ID as sent. */
  async #findApplication(id: string): Promise<Deployment | undefined> {
    const storedId = toStoredId(id);
    const deployment = await this.findStored(storedId);
    return deployment === undefined && storedId !== id ? this.findStored(id) : deployment;
  }

  /** Returns the deployment of an application, with the current defaults, because stored entries contain only what the owner set. */
  toDeployment(stored: StoredApplication): Deployment {
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
