import { type JsonObject, toObject } from '#base/json/json.ts';
import type { Service } from './service.ts';

/** A chat in a list. A deleted chat has only an ID and a revision. */
export interface RemoteChatSummary {
  readonly id: string;
  readonly revision: number;
  readonly deleted?: true;
  readonly title?: string;
  readonly pinned?: boolean;
  readonly archived?: boolean;
  readonly tags?: readonly string[];
  readonly deployment?: string;
  readonly updatedAtMs?: number;
  /** Text around a search match. */
  readonly excerpt?: string;
}

/** A page of the list of chats. */
export interface ChatPage {
  readonly data: readonly RemoteChatSummary[];
  readonly revision: number;
  readonly nextToken: string | null;
}

interface ChatChanges {
  readonly data: readonly RemoteChatSummary[];
  readonly revision: number;
  readonly hasMore: boolean;
  readonly reset: boolean;
}

/** Chats of the user at the service (docs/wire.md, Chats). All methods throw `ServiceError`. */
export class Chats {
  readonly #service: Service;

  constructor(service: Service) {
    this.#service = service;
  }

  list(query: Readonly<Record<string, string>>, signal?: AbortSignal): Promise<ChatPage> {
    return this.#json<ChatPage>(`v1/chats?${new URLSearchParams(query)}`, signal && { signal });
  }

  listChanges(since: number): Promise<ChatChanges> {
    return this.#json<ChatChanges>(`v1/chat-changes?since=${since}&limit=500`);
  }

  /** Reads a chat with the turns after a revision. */
  readChat(id: string, since: number): Promise<JsonObject> {
    return this.#json<JsonObject>(`v1/chats/${encodeURIComponent(id)}?since=${since}`);
  }

  /**
   * Writes a chat if the stored one has this revision. If the revision is undefined, the chat must not exist. Otherwise the error
   * has status 412.
   */
  write(id: string, body: object, revision: number | undefined): Promise<RemoteChatSummary> {
    const headers = revision === undefined ? { 'if-none-match': '*' } : { 'if-match': `"${revision}"` };
    return this.#json<RemoteChatSummary>(`v1/chats/${encodeURIComponent(id)}`, { method: 'POST', body, headers });
  }

  async remove(id: string): Promise<void> {
    await this.#service.send(`v1/chats/${encodeURIComponent(id)}`, { method: 'DELETE' });
  }

  async removeAll(): Promise<void> {
    await this.#service.send('v1/chats', { method: 'DELETE' });
  }

  async #json<Value>(path: string, request: Parameters<Service['json']>[1] = {}): Promise<Value> {
    return toObject(await this.#service.json(path, request)) as Value;
  }
}
