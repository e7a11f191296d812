import { isJsonObject } from '#base/json.ts';
import { toLatin1 } from '#base/latin1.ts';
import type { Chunk, ChunkChoice, Completion, Delta, ModelUsage, StageDelta, Statistics, Usage } from '#contract/chunk.ts';
import { toChunk } from '#contract/chunk.ts';
import { Frame, type Native } from '#contract/frame.ts';
import { identityOf, type ReplyIdentity, toWellFormedChunk, toWellFormedCompletion } from '#contract/well-formed.ts';
import { UpstreamFault } from '#domain/upstreams/upstream.ts';
import { charsSaid } from '#domain/usage/estimate-tokens.ts';
import { ReplyTotals, type TotalsFacts } from './reply-totals.ts';

/** Of what waits for the first choice. */
const maxEarlyBytes = 1024 * 1024;
/** Choices, and open stages, of one reply. */
const maxItems = 10_000;

/** What a reply is known by before it comes. */
export interface ReplyFacts extends TotalsFacts {
  /** Stands in where the upstream gives no id or time of its own. */
  readonly id: string;
  readonly createdSeconds: number;
  readonly isStreamed: boolean;
}

/**
 * Brings a reply into the order of contract 5: a role first, one finish reason a choice, then `usage` once and
 * `statistics` last. Events that need no change pass with their bytes.
 */
export class ReplyOrder {
  readonly #isStreamed: boolean;
  readonly #totals: ReplyTotals;
  #identity: ReplyIdentity;
  #hasStarted = false;
  readonly #early: Frame[] = [];
  #earlyBytes = 0;
  #isWhole = false;
  /** Whether the reply goes out in another dialect, as its upstream sent it. */
  #isRelayed = false;
  /** Indexes of the choices that have begun, each with whether it is finished. */
  readonly #choices = new Map<number, boolean>();
  /** Open stages, as choice and stage index, from the first one on. */
  #stages: Map<string, readonly [number, number]> | undefined;

  constructor(facts: ReplyFacts) {
    this.#isStreamed = facts.isStreamed;
    this.#totals = new ReplyTotals(facts);
    this.#identity = { id: facts.id, created: facts.createdSeconds };
  }

  /** What of a frame goes on now. What comes ahead of the first choice waits for it: the role is first. */
  take(frame: Frame): readonly Frame[] {
    if (frame.native !== undefined) return this.#relay(frame, frame.native);
    if (this.#hasStarted) return this.#order(frame);
    const going = this.#order(frame);
    if (!this.#hasStarted) {
      for (const each of going) this.#hold(each);
      return [];
    }
    return this.#early.length === 0 ? going : [...going, ...this.#early.splice(0).map((early) => this.#named(early))];
  }

  #order(frame: Frame): readonly Frame[] {
    const { completion, textBytes } = frame;
    if (textBytes !== undefined && this.#hasStarted) {
      this.#totals.said(textBytes);
      return [frame];
    }
    if (completion !== undefined) return this.#takeCompletion(frame, completion);
    return this.#takeChunks(frame);
  }

  #hold(frame: Frame): void {
    this.#early.push(frame);
    this.#earlyBytes += frame.bytes.length;
    if (this.#earlyBytes > maxEarlyBytes) throw tooMuch(`${maxEarlyBytes} bytes ahead of a first choice`);
  }

  /** What is still owed once the upstream has ended well. Throws UpstreamFault where nothing came at all. */
  end(): readonly Frame[] {
    if (!this.#hasStarted) throw new UpstreamFault('broken', 'The upstream ended its answer without a reply.');
    this.#totals.isPartial = false;
    if (this.#isRelayed) return this.#early.splice(0);
    if (!this.#isStreamed && this.#isWhole) return [];
    const owed: Chunk[] = [];
    const open = [...this.#choices].filter(([, isFinished]) => !isFinished).map(([index]) => index);
    if (open.length > 0)
      owed.push(this.#chunk({ choices: open.map((index) => ({ index, delta: {}, finish_reason: 'stop' as const })) }));
    const { usage, statistics } = this.totals();
    owed.push(this.#chunk({ usage }), this.#chunk({ statistics }));
    return [Frame.ofChunks(...owed)];
  }

  /** Fails the stages that are open, for a reply that breaks off. */
  closeStages(): readonly Frame[] {
    if (this.#isRelayed) return this.#early.splice(0);
    const open = [...(this.#stages?.values() ?? [])];
    if (open.length === 0) return [];
    const chunks = open.map(([choice, index]) =>
      this.#chunk({
        choices: [{ index: choice, delta: { custom_content: { stages: [{ index, status: 'failed' }] } }, finish_reason: null }],
      }),
    );
    this.#stages = undefined;
    return [Frame.ofChunks(...chunks)];
  }

  /** Tokens of the reply so far, a model each; what no upstream reported is estimated. */
  counts(): readonly ModelUsage[] {
    return this.totals().statistics.usage_per_model;
  }

  totals(): { usage: Usage; statistics: Statistics } {
    return this.#totals.totals();
  }

  /** Whether anything of the reply came. */
  get hasBegun(): boolean {
    return this.#hasStarted;
  }

  /** The end is held back until the reply is counted. */
  #relay(frame: Frame, { usage, textBytes, isLast }: Native): readonly Frame[] {
    this.#hasStarted = true;
    this.#isRelayed = true;
    this.#totals.isPartial = true;
    this.#totals.said(textBytes);
    this.#totals.note({ usage });
    const going = [...this.#early.splice(0), frame];
    if (!isLast) return going;
    this.#early.push(...going);
    return [];
  }

  /** What came ahead of the first choice is of the same reply. */
  #named(frame: Frame): Frame {
    const chunks = frame.chunks.map((chunk) => toWellFormedChunk(chunk, this.#identity));
    return chunks.every((chunk, at) => chunk === frame.chunks[at]) ? frame : Frame.ofChunks(...chunks);
  }

  #takeCompletion(frame: Frame, given: Completion): readonly Frame[] {
    if (given.choices.length === 0) return [];
    const completion = toWellFormedCompletion(given, this.#identity);
    if (this.#isStreamed) return this.#takeChunks(Frame.ofChunks(...apart(completion)));
    this.#hasStarted = true;
    this.#isWhole = true;
    this.#totals.note(completion);
    for (const { message } of completion.choices) this.#totals.said(charsSaid(message));
    const { usage, statistics } = this.totals();
    const isPlain = completion === given && given.statistics === undefined && given.usage !== null && isConsistent(given.usage);
    if (!isPlain) return [Frame.ofCompletion({ ...completion, usage, statistics })];
    const added = toLatin1(JSON.stringify(completion.usage ? { statistics } : { usage, statistics }));
    const bytes = frame.bytes;
    return [
      Frame.ofCompletion({ ...completion, usage, statistics }, `${bytes.slice(0, bytes.lastIndexOf('}'))},${added.slice(1)}`),
    ];
  }

  #takeChunks(frame: Frame): readonly Frame[] {
    let isSame = true;
    const going: Chunk[] = [];
    for (const chunk of frame.chunks) {
      const before = going.length;
      this.#takeChunk(chunk, going);
      if (going.length !== before + 1 || going[before] !== chunk) isSame = false;
    }
    if (isSame) return [frame];
    return going.length === 0 ? [] : [Frame.ofChunks(...going)];
  }

  #takeChunk(given: Chunk, going: Chunk[]): void {
    this.#totals.note(given);
    this.#identity = identityOf(given, this.#identity);
    // What comes ahead of the first choice is told under the name that the reply will have.
    const chunk = given.choices.length > 0 || this.#hasStarted ? toWellFormedChunk(given, this.#identity) : given;
    const fresh = chunk.choices.filter((choice) => !this.#choices.has(choice.index));
    for (const { index } of fresh) {
      if (index < 0 || index >= maxItems)
        throw new UpstreamFault('broken', `The upstream sent a choice with the index ${index}.`);
      this.#choices.set(index, false);
    }
    for (const choice of chunk.choices) {
      this.#totals.said(charsSaid(choice.delta));
      this.#noteStages(choice);
    }
    const unnamed = fresh.filter((choice) => choice.delta.role !== 'assistant');
    if (unnamed.length > 0) going.push(this.#roles(unnamed));
    if (chunk.choices.length > 0) this.#hasStarted = true;
    const rest = this.#withoutTotals(chunk);
    if (rest !== undefined) going.push(rest);
  }

  #noteStages({ index, delta }: ChunkChoice): void {
    const stages: unknown = delta.custom_content?.stages;
    for (const stage of Array.isArray(stages) ? stages.filter(isStage) : []) {
      const key = `${index}:${stage.index}`;
      this.#stages ??= new Map();
      if (stage.status) this.#stages.delete(key);
      else if (!this.#stages.has(key)) this.#stages.set(key, [index, stage.index]);
      if (this.#stages.size > maxItems) throw tooMuch(`${maxItems} open stages`);
    }
  }

  /** The chunk without usage, statistics and repeated finish reasons; undefined where nothing is left of it. */
  #withoutTotals(chunk: Chunk): Chunk | undefined {
    const isRepeated = ({ index, finish_reason: reason }: ChunkChoice): boolean =>
      reason !== null && this.#choices.get(index) === true;
    const repeats = chunk.choices.some(isRepeated);
    const choices = repeats
      ? chunk.choices
          .map((choice) => (isRepeated(choice) ? { ...choice, finish_reason: null } : choice))
          .filter(
            ({ index, delta, finish_reason: reason }) => reason !== null || !this.#choices.get(index) || saysAnything(delta),
          )
      : chunk.choices;
    for (const choice of choices) if (choice.finish_reason) this.#choices.set(choice.index, true);
    if (!repeats && !chunk.usage && !chunk.statistics) return chunk;
    const { usage: _usage, statistics: _statistics, ...rest } = chunk;
    return choices.length === 0 ? undefined : { ...rest, choices };
  }

  #roles(choices: readonly ChunkChoice[]): Chunk {
    return this.#chunk({
      choices: choices.map(({ index }) => ({ index, delta: { role: 'assistant' as const, content: '' }, finish_reason: null })),
    });
  }

  #chunk(content: Partial<Chunk>): Chunk {
    return { ...this.#identity, object: 'chat.completion.chunk', choices: [], ...content };
  }
}

function tooMuch(what: string): UpstreamFault {
  return new UpstreamFault('broken', `The upstream sent more than ${what}.`);
}

function saysAnything(delta: Delta): boolean {
  return Object.values(delta).some((value) => value !== null && value !== '');
}

/** Upstreams are believed nothing. */
function isStage(value: unknown): value is StageDelta {
  return isJsonObject(value) && typeof value.index === 'number';
}

function isConsistent(usage: Usage | undefined): boolean {
  return (
    usage === undefined ||
    (typeof usage.total_tokens === 'number' && usage.total_tokens === usage.prompt_tokens + usage.completion_tokens)
  );
}

/** A whole reply as the chunks of a stream: the message, then the finish reasons, then the totals. */
function apart(completion: Completion): Chunk[] {
  const chunk = toChunk(completion);
  const { usage, statistics, ...head } = chunk;
  const message = { ...head, choices: chunk.choices.map((choice) => ({ ...choice, finish_reason: null })) };
  const finish = { ...head, choices: chunk.choices.map(({ index, finish_reason }) => ({ index, delta: {}, finish_reason })) };
  const totals = { ...head, choices: [], ...(usage && { usage }), ...(statistics && { statistics }) };
  return [message, finish, totals];
}
