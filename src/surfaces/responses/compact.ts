import { toLatin1 } from '#base/text-bytes.ts';
import { ParleyError } from '#contract/errors.ts';
import { answerBound, FoldRoom } from '#contract/fold-frames.ts';
import type { Frame } from '#contract/frame.ts';
import type { AnyItem } from '#contract/responses/input-items.ts';
import type { Compaction } from '#contract/responses/response.ts';
import type { ReplySink } from '#domain/call.ts';
import type { RequestContext } from '../http/request-context.ts';
import { sendJson } from '../http/send-json.ts';
import type { ResponseRun } from './response-run.ts';
import type { Thoughts } from './sealed-thoughts.ts';

const prompt = [
  'Sum up this conversation so far, for yourself: it goes on from your summary alone, and nothing else of it will be there.',
  'Keep every fact, name, number, decision and instruction that may matter, what was asked for and is not done yet, and what tools gave.',
  'Write the summary and nothing else.',
].join(' ');

/** What has a deployment sum up the conversation ahead of it. */
export const compactionPrompt: AnyItem = { type: 'message', role: 'user', content: prompt };

interface Compacting {
  readonly run: ResponseRun;
  readonly seal: (thoughts: Thoughts) => string;
}

/** Sends the summary that a deployment makes as an item that stands for what was summed up. */
export class CompactReply implements ReplySink {
  readonly #context: RequestContext;
  readonly #compacting: Compacting;
  readonly #room = new FoldRoom(answerBound);

  constructor(context: RequestContext, compacting: Compacting) {
    this.#context = context;
    this.#compacting = compacting;
  }

  /** Throws upstream_failed for a reply that is too large. */
  frame(frame: Frame): void {
    this.#room.take(frame);
    this.#compacting.run.take(frame);
  }

  /** Throws upstream_failed for a deployment that says nothing. */
  end(): void {
    const context = this.#context;
    const { run, seal } = this.#compacting;
    run.end();
    const summary = textOf(run);
    if (summary.trim() === '') throw new ParleyError('upstream_failed', 'The deployment made no summary of the conversation.');
    const { created_at, usage } = run.response;
    const key = run.response.id.slice('resp_'.length);
    const compaction: Compaction = {
      id: `resp_${key}`,
      object: 'response.compaction',
      created_at,
      output: [{ type: 'compaction', id: `cmp_${key}`, encrypted_content: seal({ summary }) }],
      usage: usage ?? noUsage,
    };
    sendJson(context.response, 200, toLatin1(JSON.stringify(compaction)), context.headers);
  }

  fail(thrown: unknown): void {
    this.#context.sendError(thrown);
    this.#compacting.run.abandon();
  }
}

const noUsage: Compaction['usage'] = {
  input_tokens: 0,
  input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
  output_tokens: 0,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 0,
};

function textOf({ response }: ResponseRun): string {
  return response.output
    .flatMap((item) => (item.type === 'message' ? item.content : []))
    .map((part) => (part.type === 'output_text' ? part.text : ''))
    .join('');
}
