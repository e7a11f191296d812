import { isJsonObject } from '#base/json.ts';
import { toLatin1 } from '#base/latin1.ts';
import type { Chunk, ChunkChoice, Completion, ModelUsage, StageDelta, Statistics, Usage } from '#contract/chunk.ts';
import { toChunk } from '#contract/chunk.ts';
import { Frame, type Native } from '#contract/frame.ts';
import { estimateTokens } from '#domain/estimate-tokens.ts';
import { UpstreamFault } from '#domain/upstream.ts';
import { addUp, type TokenCounts, toModelUsages, toUsage } from '#domain/usage.ts';

/** Of what waits for the first choice. */
const maxEarlyBytes = 1024 * 1024;
/** Choices, and open stages, of one reply. */
const maxItems = 10_000;

/** What a reply is known by before it comes. */
export interface ReplyFacts {
  /** Stands in where the upstream gives no id or time of its own. */
  readonly id: string;
  readonly createdSeconds: number;
  readonly deployment: string;
  /** A model's tokens count for itself; an application reports those of the models behind it. */
  readonly kind: 'model' | 'application';
  readonly isStreamed: boolean;
  /** Estimated tokens of the request, for upstreams that report none. */
  readonly promptTokens: number;
  /** Usage that inner calls reported to Parley. */
  readonly innerUsage: () => readonly ModelUsage[];
}

/**
 * Brings a reply into the order of contract 5: a role first, one finish reason a choice, then `usage` once and
 * `statistics` last. Events that need no change pass with their bytes.
 */
export class ReplyOrder {
  readonly #facts: ReplyFacts;
  #identity: { id: string; created: number; model?: unknown };
  #hasStarted = false;
  readonly #early: Frame[] = [];
  #earlyBytes = 0;
  /** Indexes of the choices that have begun, each with whether it is finished. */
  readonly #choices = new Map<number, boolean>();
  /** Open stages, as choice and stage index, from the first one on. */
  #stages: Map<string, readonly [number, number]> | undefined;
  #usage: Usage | undefined;
  #statistics: Statistics | undefined;
  #contentChars = 0;

  constructor(facts: ReplyFacts) {
    this.#facts = facts;
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
    return this.#early.length === 0 ? going : [...going, ...this.#early.splice(0)];
  }

  #order(frame: Frame): readonly Frame[] {
    const { completion, textBytes } = frame;
    if (textBytes !== undefined && this.#hasStarted) {
      this.#contentChars += textBytes;
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
    this.#isCutShort = false;
    if (this.#isRelayed) return this.#early.splice(0);
    if (!this.#facts.isStreamed && this.#isWhole) return [];
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

  /** The same with the usage as the upstream reported it, where it did. */
  totals(): { usage: Usage; statistics: Statistics } {
    const perModel = this.#perModel();
    return { usage: this.#reported() ?? { ...addUp(perModel) }, statistics: { ...this.#statistics, usage_per_model: perModel } };
  }

  /** Whether anything of the reply came. */
  get hasBegun(): boolean {
    return this.#hasStarted;
  }

  #isWhole = false;
  /** Whether the reply goes out in another dialect, as its upstream sent it. */
  #isRelayed = false;
  #isCutShort = true;

  /** The end is held back until the reply is counted. */
  #relay(frame: Frame, { usage, textBytes, isLast }: Native): readonly Frame[] {
    this.#hasStarted = true;
    this.#isRelayed = true;
    this.#contentChars += textBytes;
    if (usage !== undefined) this.#usage = toUsage(usage);
    const going = [...this.#early.splice(0), frame];
    if (!isLast) return going;
    this.#early.push(...going);
    return [];
  }

  /** What the upstream reported; of a relayed reply that broke off the count of its beginning, made good by an estimate. */
  #reported(): Usage | undefined {
    if (this.#usage === undefined || !this.#isRelayed || !this.#isCutShort) return this.#usage;
    const completion_tokens = Math.max(this.#usage.completion_tokens, estimateTokens(this.#contentChars));
    return toUsage({ ...this.#usage, completion_tokens });
  }

  #takeCompletion(frame: Frame, completion: Completion): readonly Frame[] {
    if (this.#facts.isStreamed) return this.#takeChunks(Frame.ofChunks(...apart(completion)));
    this.#hasStarted = true;
    this.#isWhole = true;
    this.#note(completion);
    for (const { message } of completion.choices) this.#contentChars += message?.content?.length ?? 0;
    const { usage, statistics } = this.totals();
    const added = toLatin1(JSON.stringify(completion.usage ? { statistics } : { usage, statistics }));
    const isPlain = completion.statistics === undefined && completion.usage !== null && isConsistent(completion.usage);
    if (!isPlain) return [Frame.ofCompletion({ ...completion, usage, statistics })];
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

  #takeChunk(chunk: Chunk, going: Chunk[]): void {
    this.#note(chunk);
    const fresh = chunk.choices.filter((choice) => !this.#choices.has(choice.index));
    for (const choice of chunk.choices) {
      if (!this.#choices.has(choice.index)) this.#choices.set(choice.index, false);
      if (this.#choices.size > maxItems) throw tooMuch(`${maxItems} choices`);
      this.#contentChars += choice.delta?.content?.length ?? 0;
      this.#noteStages(choice);
    }
    const unnamed = fresh.filter((choice) => choice.delta?.role !== 'assistant');
    if (unnamed.length > 0) going.push(this.#roles(unnamed));
    if (chunk.choices.length > 0) this.#hasStarted = true;
    const rest = this.#withoutTotals(chunk);
    if (rest !== undefined) going.push(rest);
  }

  #note(source: Chunk | Completion): void {
    if (source.id)
      this.#identity = { id: source.id, created: source.created, ...(source.model !== undefined && { model: source.model }) };
    if (source.usage) this.#usage = toUsage(source.usage);
    if (source.statistics) this.#statistics = source.statistics;
  }

  #noteStages({ index, delta }: ChunkChoice): void {
    const stages: unknown = delta?.custom_content?.stages;
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
    const isRepeated = (choice: ChunkChoice): boolean =>
      Boolean(choice.finish_reason) && this.#choices.get(choice.index) === true;
    const repeats = chunk.choices.some(isRepeated);
    const choices = repeats
      ? chunk.choices.map((choice) => (isRepeated(choice) ? { ...choice, finish_reason: null } : choice))
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

  #perModel(): ModelUsage[] {
    if (this.#facts.kind === 'application') {
      if (this.#statistics !== undefined) return toModelUsages(this.#statistics.usage_per_model);
      const inner = this.#facts.innerUsage();
      if (inner.length > 0) return toModelUsages(inner);
      return this.#usage === undefined ? [] : [this.#own(this.#usage)];
    }
    const reported = this.#reported();
    if (reported !== undefined) return [this.#own(reported)];
    const completion = estimateTokens(this.#contentChars);
    const prompt = this.#facts.promptTokens;
    return [
      {
        ...this.#own({ prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion }),
        estimated: true,
      },
    ];
  }

  #own(counts: TokenCounts): ModelUsage {
    const { prompt_tokens, completion_tokens, total_tokens } = counts;
    const { deployment } = this.#facts;
    return { index: 0, model: deployment, name: deployment, prompt_tokens, completion_tokens, total_tokens };
  }
}

function tooMuch(what: string): UpstreamFault {
  return new UpstreamFault('broken', `The upstream sent more than ${what}.`);
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
