import { isJsonObject } from '#base/json/json.ts';
import type { Service } from '../service/service.ts';

/** A key that the user made. Times are milliseconds since the epoch. */
export interface UserKey {
  readonly id: string;
  /** Empty if it has none. */
  readonly name: string;
  /** How the key begins. */
  readonly prefix: string;
  readonly createdAt: number;
  readonly lastUsedAt: number | null;
  readonly expiresAt: number;
}

/** How many keys in force the user may have, and how many days each may live. */
export interface KeyQuota {
  readonly keys: number;
  readonly maxDays: number;
}

/** Keys that users make for themselves (docs/wire.md, Keys of users). All of it throws ServiceFault. */
export class UserKeys {
  readonly #service: Service;

  constructor(service: Service) {
    this.#service = service;
  }

  /** Null: the user may have none. */
  async getQuota(): Promise<KeyQuota | null> {
    const info = await this.#service.json('v1/user/info');
    return isJsonObject(info) && isJsonObject(info.selfService) ? (info.selfService as unknown as KeyQuota) : null;
  }

  async list(): Promise<readonly UserKey[]> {
    const response = await this.#service.json('v1/user/keys');
    return isJsonObject(response) && Array.isArray(response.data) ? (response.data as readonly UserKey[]) : [];
  }

  /** The key is told once. */
  async create(options: { readonly name?: string; readonly days: number }): Promise<UserKey & { readonly key: string }> {
    const createdKey = await this.#service.json('v1/user/keys', { method: 'POST', body: options });
    return createdKey as UserKey & { readonly key: string };
  }

  async delete(id: string): Promise<void> {
    await this.#service.send(`v1/user/keys/${encodeURIComponent(id)}`, { method: 'DELETE' });
  }
}
