import type { Attachment } from '#contract/message.ts';
import type { ShownAttachment } from '../attachments/kind-of.ts';
import type { Conversation, Turn } from '../conversation/conversation.ts';
import { attachFile } from '../service/attach-file.ts';
import { faultOf } from '../service/fault.ts';
import type { Service } from '../service/service.ts';
import type { SharedChat } from './chat-shares.ts';

interface Copy {
  readonly conversation: Conversation;
  /** Files that are not shared any more. */
  readonly lost: number;
}

const ofShare = /^shared-chats\//;

/** A conversation of the user's own with what was shared, its files too. Throws ServiceFault where these cannot be taken along. */
export async function toCopy(service: Service, shared: SharedChat, signal: AbortSignal): Promise<Copy> {
  const files = new CopiedFiles(service, signal);
  const turns: [string, Turn][] = [];
  for (const turn of shared.turns) turns.push([turn.id, await files.toTurn(turn)]);
  const now = Date.now();
  const times = { createdAtMs: now, updatedAtMs: now };
  const { title, deployment } = shared;
  const conversation = {
    ...{ id: crypto.randomUUID(), title, deployment, ...times },
    ...{ turns: Object.fromEntries(turns), shown: {} },
  };
  return { conversation, lost: files.lost };
}

/** Each file once, however often it is shown. */
class CopiedFiles {
  lost = 0;
  readonly #service: Service;
  readonly #signal: AbortSignal;
  readonly #copied = new Map<string, Attachment | undefined>();

  constructor(service: Service, signal: AbortSignal) {
    this.#service = service;
    this.#signal = signal;
  }

  async toTurn(turn: Turn): Promise<Turn> {
    if (turn.kind === 'question') return { ...turn, attachments: await this.#toOwn(turn.attachments) };
    const { attachments = [] } = turn.custom;
    return { ...turn, custom: attachments.length === 0 ? {} : { attachments: await this.#toOwn(attachments) } };
  }

  async #toOwn<Some extends ShownAttachment>(attachments: readonly Some[]): Promise<Some[]> {
    const own: Some[] = [];
    for (const { url, ...rest } of attachments) {
      if (url === undefined || !ofShare.test(url)) own.push({ ...rest, ...(url !== undefined && { url }) } as Some);
      else own.push({ ...rest, ...(await this.#copy(url, rest)) } as Some);
    }
    return own;
  }

  async #copy(
    url: string,
    { title = '', type = '' }: { title?: string | undefined; type?: string | undefined },
  ): Promise<Partial<Attachment>> {
    if (!this.#copied.has(url)) {
      const content = await this.#read(url);
      if (content === undefined) this.lost += 1;
      const file = content && new File([content], title || 'file', { type });
      const watching = { signal: this.#signal, onProgress: () => undefined };
      this.#copied.set(url, file && (await attachFile(this.#service, file, watching)));
    }
    const { data, url: stored } = this.#copied.get(url) ?? {};
    return { ...(data !== undefined && { data }), ...(stored !== undefined && { url: stored }) };
  }

  async #read(url: string): Promise<Blob | undefined> {
    try {
      return await (await this.#service.sendReference(url, { signal: this.#signal })).blob();
    } catch (thrown) {
      if (faultOf(thrown).code === 'share_not_found') return undefined;
      throw thrown;
    }
  }
}
