import { isJsonObject, type JsonObject, tryParseJson } from '#base/json/json.ts';
import { faultOf, ServiceFault } from '../service/fault.ts';
import type { Service } from '../service/service.ts';
import { readEvents } from '../service/stream-reply.ts';
import type { BackgroundWords } from './background-english.ts';

export type AnswerState = keyof BackgroundWords['states'];

/** An answer as a list tells of it. */
export interface ListedAnswer {
  readonly id: string;
  readonly status: AnswerState;
  readonly model: string;
  /** Seconds since the epoch. */
  readonly created_at: number;
  readonly asked: string | null;
}

export interface AnswerPage {
  readonly data: readonly ListedAnswer[];
  readonly has_more: boolean;
  readonly last_id: string | null;
}

/** A response as the service shows it (docs/responses.md). */
export interface ShownAnswer extends Omit<ListedAnswer, 'asked'> {
  readonly completed_at?: number | null;
  readonly output: readonly JsonObject[];
  readonly error: { readonly code: string; readonly message: string } | null;
  readonly incomplete_details: { readonly reason: string } | null;
  readonly instructions?: unknown;
  readonly usage?: { readonly input_tokens: number; readonly output_tokens: number; readonly total_tokens: number } | null;
}

const againMs = 1_000;
const itemsAtOnce = 100;

/** What the service answers, or answered, in the background for the user. Throws ServiceFault. */
export class BackgroundAnswers {
  readonly #service: Service;

  constructor(service: Service) {
    this.#service = service;
  }

  async list(after: string | undefined, signal?: AbortSignal): Promise<AnswerPage> {
    const query = after === undefined ? '' : `&after=${encodeURIComponent(after)}`;
    return (await this.#service.json(`v1/user/responses?limit=20${query}`, signal && { signal })) as AnswerPage;
  }

  async read(id: string, signal: AbortSignal): Promise<ShownAnswer> {
    return (await this.#service.json(pathOf(id), { signal })) as ShownAnswer;
  }

  /** All that it was asked with, the earliest first. */
  async input(id: string, signal: AbortSignal): Promise<readonly JsonObject[]> {
    const items: JsonObject[] = [];
    for (let after = ''; ; ) {
      const page = await this.#service.json(`${pathOf(id)}/input_items?order=asc&limit=${itemsAtOnce}${after}`, { signal });
      if (!isJsonObject(page) || !Array.isArray(page.data)) return items;
      items.push(...page.data.filter(isJsonObject));
      if (page.has_more !== true || typeof page.last_id !== 'string') return items;
      after = `&after=${encodeURIComponent(page.last_id)}`;
    }
  }

  /** Stops one that goes on; gives it as it is then. */
  async cancel(id: string): Promise<ShownAnswer> {
    return (await this.#service.json(`${pathOf(id)}/cancel`, { method: 'POST' })) as ShownAnswer;
  }

  async remove(id: string): Promise<void> {
    await this.#service.send(pathOf(id), { method: 'DELETE' });
  }

  /** The events of one from the first on, until it ends; a connection that breaks off is taken up again where it was, of which `onLost` is told. */
  async *follow(id: string, { signal, onLost }: { signal: AbortSignal; onLost: () => void }): AsyncGenerator<JsonObject> {
    for (let last = -1; ; ) {
      try {
        const behind = last < 0 ? '' : `&starting_after=${last}`;
        const answered = await this.#service.send(`${pathOf(id)}?stream=true${behind}`, { signal });
        for await (const data of readEvents(answered, signal)) {
          const event = tryParseJson(data);
          if (!isJsonObject(event)) continue;
          if (typeof event.sequence_number === 'number') last = event.sequence_number;
          yield event;
        }
        return;
      } catch (thrown) {
        const { code } = faultOf(thrown);
        if (signal.aborted || !(thrown instanceof ServiceFault) || (code !== 'broke_off' && code !== 'connection_lost'))
          throw thrown;
        onLost();
        await new Promise((resolve) => setTimeout(resolve, againMs));
      }
    }
  }
}

/** Whether an answer has not ended. */
export function goesOn({ status }: Pick<ListedAnswer, 'status'>): boolean {
  return status === 'queued' || status === 'in_progress';
}

function pathOf(id: string): string {
  return `v1/responses/${encodeURIComponent(id)}`;
}
