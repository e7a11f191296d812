import { isJsonObject } from '#base/json/json.ts';
import type { Turn } from '../conversation/conversation.ts';
import type { Service } from '../service/service.ts';

/** What the user shares. */
export interface ChatShare {
  readonly id: string;
  readonly chat: string;
  readonly title: string;
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
}

/** A stored file that a link to a conversation would share. */
export interface ShareableFile {
  readonly path: string;
  readonly title: string;
  readonly from: 'question' | 'reply';
}

/** What somebody shared, as it was then. */
export interface SharedChat {
  readonly from: string;
  readonly title: string;
  readonly deployment: string;
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
  readonly turns: readonly Turn[];
}

/** Conversations that are shared by links (docs/wire.md, Shared chats). All of it throws ServiceFault. */
export class ChatShares {
  readonly #service: Service;

  constructor(service: Service) {
    this.#service = service;
  }

  async list(): Promise<readonly ChatShare[]> {
    const response = await this.#service.json('v1/chat-shares');
    return isJsonObject(response) && Array.isArray(response.data) ? (response.data as readonly ChatShare[]) : [];
  }

  /** Lists the files that a link to a conversation would share now. */
  async files(chat: string): Promise<readonly ShareableFile[]> {
    const response = await this.#service.json(`v1/chats/${encodeURIComponent(chat)}/shared-files`);
    return isJsonObject(response) && Array.isArray(response.data) ? (response.data as readonly ShareableFile[]) : [];
  }

  /** The token of the link is told once. */
  async share(chat: string, expiresInDays: number): Promise<ChatShare & { readonly token: string }> {
    const body = { expiresInDays };
    const share = await this.#service.json(`v1/chats/${encodeURIComponent(chat)}/shares`, { method: 'POST', body });
    return share as ChatShare & { readonly token: string };
  }

  async revoke(id: string): Promise<void> {
    await this.#service.send(`v1/chat-shares/${encodeURIComponent(id)}`, { method: 'DELETE' });
  }

  async open(token: string): Promise<SharedChat> {
    return (await this.#service.json(`v1/shared-chats/${encodeURIComponent(token)}`)) as SharedChat;
  }
}

/** A user as people know them: keys of a project are told by its name. */
export function toPersonName(user: string): string {
  return user.replace(/^key:/, '');
}
