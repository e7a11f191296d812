import { isJsonObject } from '#base/json/json.ts';
import type { Service } from '../service/service.ts';

/** A key that the user created. Times are in milliseconds since the epoch. */
export interface UserKey {
  readonly id: string;
  /** Empty if there is none. */
  readonly name: string;
  /** First characters of the key. */
  readonly prefix: string;
  readonly createdAt: number;
  readonly lastUsedAt: number | null;
  readonly expiresAt: number;
}

/** Maximum number of active keys, and their maximum lifetime in days. */
export interface KeyQuota {
  readonly keys: number;
  readonly maxDays: number;
}

/** Keys that users create (docs/keys.md). All methods throw `ServiceError`. */
export class UserKeys {
  readonly #service: Service;

  constructor(service: Service) {
    this.#service = service;
  }

  /** Null if the user cannot have keys. */
  async getQuota(): Promise<KeyQuota | null> {
    const info = await this.#service.json('v1/user/info');
    return isJsonObject(info) && isJsonObject(info.selfService) ? (info.selfService as unknown as KeyQuota) : null;
  }

  async list(): Promise<readonly UserKey[]> {
    const response = await this.#service.json('v1/user/keys');
    return isJsonObject(response) && Array.isArray(response.data) ? (response.data as readonly UserKey[]) : [];
  }

  /** The service returns the key only once. */
  async create(options: { readonly name?: string; readonly days: number }): Promise<UserKey & { readonly key: string }> {
    const createdKey = await this.#service.json('v1/user/keys', { method: 'POST', body: options });
    return createdKey as UserKey & { readonly key: string };
  }

  async delete(id: string): Promise<void> {
    await this.#service.send(`v1/user/keys/${encodeURIComponent(id)}`, { method: 'DELETE' });
  }
}
