import { isJsonObject, toObject, toText } from '#base/json/json.ts';
import type { Turn } from '../conversation/conversation.ts';
import type { Service } from '../service/service.ts';

/** A shared chat of the user. */
export interface ChatShare {
  readonly id: string;
  readonly chat: string;
  readonly title: string;
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
}

/** A stored file that a link to its chat shares. */
export interface ShareableFile {
  readonly path: string;
  readonly title: string;
  readonly from: 'question' | 'reply';
}

interface SharePreview {
  readonly title: string;
  /** ETag of the chat, or `*` if a node of an earlier version does not return it. */
  readonly etag: string;
  readonly files: readonly ShareableFile[];
}

/** A snapshot of a shared chat. */
export interface SharedChat {
  readonly from: string;
  readonly title: string;
  readonly deployment: string;
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
  readonly turns: readonly Turn[];
}

/** Chats that are shared with links (docs/wire.md, Shared chats). All methods throw `ServiceError`. */
export class ChatShares {
  readonly #service: Service;

  constructor(service: Service) {
    this.#service = service;
  }

  async list(): Promise<readonly ChatShare[]> {
    const response = await this.#service.json('v1/chat-shares');
    return isJsonObject(response) && Array.isArray(response.data) ? (response.data as readonly ChatShare[]) : [];
  }

  /** Returns the title and the files that a new link would share. */
  async preview(chat: string): Promise<SharePreview> {
    const { title, revision, data } = toObject(await this.#service.json(`v1/chats/${encodeURIComponent(chat)}/shared-files`));
    const etag = typeof revision === 'number' ? `"${revision}"` : '*';
    return { title: toText(title), etag, files: Array.isArray(data) ? (data as readonly ShareableFile[]) : [] };
  }

  /**
   * Creates a link. Fails with 412 if the chat has another ETag. `deploymentNames` are for readers without access to a deployment.
   * The service returns the token of the link only once.
   */
  async create(
    chat: string,
    etag: string,
    body: { readonly expiresInDays: number; readonly deploymentNames: Readonly<Record<string, string>> },
  ): Promise<ChatShare & { readonly token: string }> {
    const headers = { 'if-match': etag };
    const share = await this.#service.json(`v1/chats/${encodeURIComponent(chat)}/shares`, { method: 'POST', body, headers });
    return share as ChatShare & { readonly token: string };
  }

  async revoke(id: string): Promise<void> {
    await this.#service.send(`v1/chat-shares/${encodeURIComponent(id)}`, { method: 'DELETE' });
  }

  async open(token: string): Promise<SharedChat> {
    return (await this.#service.json(`v1/shared-chats/${encodeURIComponent(token)}`)) as SharedChat;
  }
}

/** Returns the displayed name of a user. Users with a project key have the name of the project. */
export function toDisplayName(user: string): string {
  return user.replace(/^key:/, '');
}
