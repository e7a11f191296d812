import type { RequestChannel } from '#base/net/request-channel.ts';
import type { NodeBroadcast, Notice } from '#domain/node-broadcast.ts';
import { throwStoreError } from '#domain/store-error.ts';

type NoticeListener = (notice: Notice) => unknown;

/**
 * Sends notices to the other workers of a node. `publish` resolves after each of them has processed the notice, has failed, or has
 * not answered in time.
 */
export class WorkerBroadcast implements NodeBroadcast {
  readonly #channel: RequestChannel;
  readonly #listeners: NoticeListener[] = [];

  constructor(channel: RequestChannel) {
    this.#channel = channel;
  }

  async publish(notice: Notice): Promise<void> {
    await this.#channel.request('broadcast', notice).catch(throwStoreError('another worker did not answer'));
  }

  onNotice(listener: NoticeListener): void {
    this.#listeners.push(listener);
  }

  /** Processes a notice of another worker. */
  readonly receive = async (notice: Notice): Promise<null> => {
    await Promise.allSettled(this.#listeners.map(async (listener) => listener(notice)));
    return null;
  };
}
