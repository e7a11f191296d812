import { isJsonObject, type JsonObject, tryParseJson } from '#base/json/json.ts';
import type { BackgroundStrings } from '../locales/en/background.ts';
import type { Service } from '../service/service.ts';
import { isGatewayError, ServiceError, toErrorDetails } from '../service/service-error.ts';
import { readEvents } from '../service/stream-reply.ts';

/** Status of a response. */
export type AnswerState = keyof BackgroundStrings['states'];

/** A response as listed. `asked` is its question. */
export interface ListedAnswer {
  readonly id: string;
  readonly status: AnswerState;
  readonly model: string;
  /** Seconds since the epoch. */
  readonly created_at: number;
  readonly asked: string | null;
}

interface AnswerPage {
  readonly data: readonly ListedAnswer[];
  readonly has_more: boolean;
  readonly last_id: string | null;
}

interface AnswerList {
  readonly answers: readonly ListedAnswer[];
  readonly hasMore: boolean;
}

/** A response of the service (docs/responses.md). */
export interface AnswerDetails extends Omit<ListedAnswer, 'asked'> {
  readonly completed_at?: number | null;
  readonly output: readonly JsonObject[];
  readonly error: { readonly code: string; readonly message: string } | null;
  readonly incomplete_details: { readonly reason: string } | null;
  readonly instructions?: unknown;
  readonly usage?: { readonly input_tokens: number; readonly output_tokens: number; readonly total_tokens: number } | null;
}

const reconnectAfterMs = 1_000;
const pageSize = 100;

/** Background responses of the user. Methods throw `ServiceError`. */
export class BackgroundAnswers {
  readonly #service: Service;

  constructor(service: Service) {
    this.#service = service;
  }

  /** Lists the latest answers, up to `count`. */
  async list(count: number, signal: AbortSignal): Promise<AnswerList> {
    const answers: ListedAnswer[] = [];
    for (let after = ''; ; ) {
      const limit = Math.min(pageSize, count - answers.length);
      const page = (await this.#service.json(`v1/user/responses?limit=${limit}${after}`, { signal })) as AnswerPage;
      answers.push(...page.data);
      if (!page.has_more || page.last_id === null || answers.length >= count) return { answers, hasMore: page.has_more };
      after = `&after=${encodeURIComponent(page.last_id)}`;
    }
  }

  async readAnswer(id: string, signal: AbortSignal): Promise<AnswerDetails> {
    return (await this.#service.json(getPath(id), { signal })) as AnswerDetails;
  }

  /** Returns all input items, the earliest first. */
  async listInput(id: string, signal: AbortSignal): Promise<readonly JsonObject[]> {
    const items: JsonObject[] = [];
    for (let after = ''; ; ) {
      const page = await this.#service.json(`${getPath(id)}/input_items?order=asc&limit=${pageSize}${after}`, { signal });
      if (!isJsonObject(page) || !Array.isArray(page.data)) return items;
      items.push(...page.data.filter(isJsonObject));
      if (page.has_more !== true || typeof page.last_id !== 'string') return items;
      after = `&after=${encodeURIComponent(page.last_id)}`;
    }
  }

  /** Cancels a response that is in progress, and returns its final state. */
  async cancel(id: string): Promise<AnswerDetails> {
    return (await this.#service.json(`${getPath(id)}/cancel`, { method: 'POST' })) as AnswerDetails;
  }

  async remove(id: string): Promise<void> {
    await this.#service.send(getPath(id), { method: 'DELETE' });
  }

  /**
   * Streams the events from the first one until the response ends. If the connection is lost or the service is unavailable for a
   * while, calls `onDisconnect` and resumes after the last event.
   */
  async *follow(
    id: string,
    { signal, onDisconnect }: { signal: AbortSignal; onDisconnect: () => void },
  ): AsyncGenerator<JsonObject> {
    for (let lastSequence = -1; ; ) {
      try {
        const afterQuery = lastSequence < 0 ? '' : `&starting_after=${lastSequence}`;
        const response = await this.#service.send(`${getPath(id)}?stream=true${afterQuery}`, { signal });
        for await (const data of readEvents(response, signal)) {
          const event = tryParseJson(data);
          if (!isJsonObject(event)) continue;
          if (typeof event.sequence_number === 'number') lastSequence = event.sequence_number;
          yield event;
        }
        return;
      } catch (error) {
        const { status, code } = toErrorDetails(error);
        const isTemporary = code === 'broke_off' || code === 'connection_lost' || isGatewayError(status);
        if (signal.aborted || !(error instanceof ServiceError) || !isTemporary) throw error;
        onDisconnect();
        await new Promise((resolve) => setTimeout(resolve, reconnectAfterMs));
      }
    }
  }
}

/** Returns whether an answer has not ended. */
export function isInProgress({ status }: Pick<ListedAnswer, 'status'>): boolean {
  return status === 'queued' || status === 'in_progress';
}

function getPath(id: string): string {
  return `v1/responses/${encodeURIComponent(id)}`;
}
