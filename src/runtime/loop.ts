import type { Clock } from '#base/clock.ts';
import { isJsonObject, type JsonObject } from '#base/json.ts';
import type { ChatRequest } from '#contract/chat-request.ts';
import type { Chunk, Delta, ResponseCustomContent } from '#contract/chunk.ts';
import type { OfferedControl } from '#contract/completed-control.ts';
import { ParleyError, withMembers } from '#contract/errors.ts';
import { Frame } from '#contract/frame.ts';
import type { Message } from '#contract/message.ts';
import type { MissingToolset, Tool, ToolAnswer } from '#domain/tools/tool.ts';
import { UsageCollector } from '#domain/usage/usage-collector.ts';
import { asParagraph } from './as-paragraph.ts';
import { toControls } from './ask-user.ts';
import { Citations } from './citations.ts';
import { type HandsOut, toHandedOut } from './handed-out.ts';
import { inOrderAsked } from './in-order-asked.ts';
import { Renumbering, Reply } from './reply.ts';
import { type AcceptedMedia, askShowing, isMediaMessage, type ToolMedia, toMediaMessages } from './shown-media.ts';
import { type AskedQuestion, type RefusedCall, runTools, type ToolMessage, type ToolRuns } from './tool-run.ts';
import { Toolset } from './toolset.ts';
import { type ToolCall, Turn } from './turn.ts';
import { TurnUsage } from './turn-usage.ts';

export interface LoopOptions {
  /** One call of the model; its frames end only after a good end. */
  readonly ask: (request: ChatRequest) => AsyncIterable<Frame>;
  /** What the caller asked. Tools in it are the caller's own: it is handed their calls. */
  readonly request: ChatRequest;
  readonly tools: readonly Tool[];
  /** Deployment id of the model, for usage that comes without statistics. */
  readonly model: string;
  /** Deployment id of what answers; absent: that of the model. */
  readonly deployment?: string;
  /** Id of the reply. */
  readonly id: string;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Calls of the model, the last one without tools. */
  readonly maxTurns: number;
  /** Milliseconds one tool run may take. */
  readonly timeoutMs: number;
  /** Bytes of a tool's result that the model is shown. */
  readonly maxResultBytes: number;
  /** Toolsets that are missing, each shown as a failed stage before anything else. */
  readonly missing?: readonly MissingToolset[];
  /** Messages that the run added before it stopped for its caller; default none. */
  readonly added?: readonly Message[];
  /** What the run stopped for, if it goes on with the user's answer; default none. */
  readonly answered?: AnsweredQuestion | undefined;
  /** Default: all tools. */
  readonly handsOut?: HandsOut;
  /** Makes the reply's `state`, asked once, at the end; with it, the state of the model's own reply does not reach the caller. */
  readonly toState?: (memory: RunMemory) => Promise<JsonObject | undefined> | JsonObject | undefined;
  /** What of its tools' images and documents the model can be shown; default none. */
  readonly takes?: AcceptedMedia | undefined;
  /** What can be cited, with what earlier runs of the conversation gave; default nothing before. */
  readonly citations?: Citations;
  /** Called with tool faults whose reason is shown to nobody. */
  readonly onToolFault?: (tool: string, thrown: unknown) => void;
  /** Called with calls that no tool was run for. */
  readonly onRefusedCall?: ((call: RefusedCall) => void) | undefined;
}

/** A run that stopped for a question of a tool, and the user's answer. */
export interface AnsweredQuestion {
  /** The first is answered now; the others are asked after it, one with each reply. */
  readonly questions: readonly AskedQuestion[];
  /** Undefined: declined. */
  readonly value: ToolAnswer['value'];
  /** Calls of the caller's tools that are handed out then. */
  readonly pending: readonly ToolCall[];
}

/** What of a run is worth remembering. */
export interface RunMemory {
  /** Messages that the run added to the conversation. */
  readonly added: readonly Message[];
  /** Calls of the caller's tools among them, which have no answer yet. */
  readonly pending: readonly ToolCall[];
  /** Calls of the run's own tools that wait for the user; absent: none. */
  readonly questions?: readonly AskedQuestion[];
  /** Controls that the reply offered. */
  readonly controls: readonly OfferedControl[];
  /** State of the model's own last reply. */
  readonly inner: JsonObject | undefined;
  /** The run failed behind what is remembered, and can be gone on with from there; absent: it did not. */
  readonly isBroken?: true;
}

const lastTurnNote = '\n\n[No more tools can be called in this run: answer now with what is known.]';

/**
 * Lets a model work with tools (docs/quick-apps.md, A run): asks it, runs the tools it calls, sends it their results, and
 * again, until it answers. One choice. Nothing comes before the model's first chunk; what fails there or later is thrown. If a
 * reply calls tools of the caller as well, the run's own tools run first, and then it stops with the caller's calls. If a tool
 * has a question for the user, it stops before that, with the question and the controls to answer it.
 */
export async function* runLoop(options: LoopOptions): AsyncGenerator<Frame, void> {
  const loop = new Loop(options);
  for await (const chunk of loop.run()) yield Frame.ofChunks(chunk);
}

class Loop {
  readonly #options: LoopOptions;
  readonly #maxTurns: number;
  readonly #callersNames: ReadonlySet<string>;
  readonly #reply: Reply;
  readonly #tally = new UsageCollector();
  readonly #runs: ToolRuns;
  #added: Message[];
  #hasStarted = false;
  #text = '';
  #inner: JsonObject | undefined;
  readonly #controls: OfferedControl[] = [];

  constructor(options: LoopOptions) {
    this.#options = options;
    this.#maxTurns = options.maxTurns;
    this.#added = [...(options.added ?? [])];
    this.#callersNames = namesOf(options.request.tools);
    this.#reply = new Reply({ deployment: options.model, ...options });
    this.#runs = {
      reply: this.#reply,
      toolset: new Toolset(options.tools, this.#callersNames),
      tally: this.#tally,
      citations: options.citations ?? new Citations(),
      clock: options.clock,
      signal: options.signal,
      timeoutMs: options.timeoutMs,
      maxResultBytes: options.maxResultBytes,
      onFault: options.onToolFault ?? (() => undefined),
      onRefused: options.onRefusedCall,
    };
  }

  /** What of a run that fails is done is not lost: its state goes before the error and with it. */
  async *run(): AsyncGenerator<Chunk, void> {
    try {
      yield* this.#run();
    } catch (thrown) {
      if (this.#added.length === 0 || this.#options.signal.aborted) throw thrown;
      const memory = { added: this.#added, pending: [], controls: [], inner: undefined, isBroken: true as const };
      const state = await this.#options.toState?.(memory);
      if (state === undefined) throw thrown;
      yield this.#reply.chunk({ custom_content: { state } });
      throw thrown instanceof ParleyError ? withMembers(thrown, { custom_content: { state }, ...this.#tally.totals() }) : thrown;
    }
  }

  async *#run(): AsyncGenerator<Chunk, void> {
    const { answered } = this.#options;
    if (answered !== undefined && (yield* this.#goOn(answered))) return;
    for (let nth = 1 + turnsIn(this.#added); ; nth += 1) {
      const turn = yield* this.#ask(nth);
      const calls = nth < this.#maxTurns ? callsToRun(turn) : [];
      if (calls.length === 0) return yield* this.#finish(turn);
      const callers = calls.filter((call) => this.#callersNames.has(call.function.name));
      const own = calls.filter((call) => !callers.includes(call));
      const { answers, media, questions } = yield* runTools(own, this.#runs);
      this.#added.push(turn.toMessage(), ...answers, ...this.#show(media));
      if (yield* this.#stop(questions, callers)) return;
      if (nth + 1 === this.#maxTurns) noteLastTurn(answers);
    }
  }

  /** Runs a call again, with the user's answer; true if the run stops once more. */
  async *#goOn({ questions: [asked, ...others], value, pending }: AnsweredQuestion): AsyncGenerator<Chunk, boolean> {
    if (asked === undefined) return false;
    const { call, question } = asked;
    yield* this.#start();
    const userAnswers = new Map([[call.id, { resume: question.resume, value }]]);
    const { answers, media, questions } = yield* runTools([call], { ...this.#runs, userAnswers });
    this.#added = inOrderAsked([...this.#added, ...answers, ...this.#show(media)]);
    if (turnsIn(this.#added) + 1 === this.#maxTurns) noteLastTurn(answers);
    return yield* this.#stop([...questions, ...others], pending);
  }

  /** True if the run cannot go on before the user, or the caller, did something. */
  async *#stop(questions: readonly AskedQuestion[], callers: readonly ToolCall[]): AsyncGenerator<Chunk, boolean> {
    if (questions.length > 0) yield* this.#askUser(questions, callers);
    else if (callers.length > 0) yield* this.#handOut(callers);
    return questions.length > 0 || callers.length > 0;
  }

  #show(media: readonly ToolMedia[]): Message[] {
    const { takes } = this.#options;
    return takes === undefined ? [] : toMediaMessages(media, takes, this.#added);
  }

  async *#ask(nth: number): AsyncGenerator<Chunk, Turn> {
    const turn = new Turn(nth);
    const usage = new TurnUsage(this.#options.model);
    const inner = new Renumbering(this.#reply);
    const forget = (): void => {
      this.#added = this.#added.filter((message) => !isMediaMessage(message));
    };
    for await (const frame of askShowing(this.#options.ask, this.#toRequest(nth), forget)) {
      for (const chunk of frame.chunks) {
        if (!this.#hasStarted) yield* this.#start();
        usage.take(chunk);
        const delta = turn.take(chunk);
        if (delta !== undefined) yield this.#pass(delta, turn, inner);
      }
    }
    this.#options.signal.throwIfAborted();
    const closing = inner.closing('completed');
    if (closing.length > 0) yield this.#reply.chunk({ custom_content: { stages: closing } });
    this.#tally.add(usage.items());
    if (turn.text !== '') this.#text += this.#asParagraph(turn.text);
    return turn;
  }

  /** What the model is asked: in the last turn without tools; a choice that forces a tool holds for the first turn only. */
  #toRequest(nth: number): ChatRequest {
    const { addons: _addons, n: _n, tools, tool_choice, parallel_tool_calls, ...rest } = this.#options.request;
    const messages = [...rest.messages, ...this.#added];
    const offered = [...(Array.isArray(tools) ? tools : []), ...this.#runs.toolset.definitions];
    if (nth >= this.#maxTurns || offered.length === 0) return { ...rest, messages };
    return {
      ...rest,
      messages,
      tools: offered,
      ...(nth === 1 && tool_choice !== undefined && { tool_choice }),
      ...(parallel_tool_calls !== undefined && { parallel_tool_calls }),
    };
  }

  *#start(): Generator<Chunk, void> {
    this.#hasStarted = true;
    yield this.#reply.chunk({ role: 'assistant' });
    for (const { name, reason } of this.#options.missing ?? []) {
      const index = this.#reply.nextStage();
      yield this.#reply.chunk({ custom_content: { stages: [{ index, name, status: null }] } });
      yield this.#reply.chunk({ custom_content: { stages: [{ index, content: reason, status: 'failed' }] } });
    }
  }

  #pass(delta: Delta, turn: Turn, inner: Renumbering): Chunk {
    const custom_content = this.#remember(delta.custom_content);
    const isFirstText = turn.text !== '' && turn.text === delta.content;
    const { custom_content: _custom, ...said } = delta;
    return this.#reply.chunk({
      ...said,
      ...(isFirstText && { content: this.#asParagraph(turn.text) }),
      ...(isJsonObject(custom_content) && { custom_content: inner.customContent(custom_content) }),
    });
  }

  /** The text, as a paragraph of its own if the reply has others already. */
  #asParagraph(text: string): string {
    return asParagraph(this.#text, text);
  }

  /** What of the model's own reply is passed on, once it is remembered. */
  #remember(content: ResponseCustomContent | undefined): ResponseCustomContent | undefined {
    if (this.#options.toState === undefined || !isJsonObject(content)) return content;
    const { state, ...rest } = content;
    if (isJsonObject(state)) this.#inner = state;
    for (const control of Array.isArray(rest.controls) ? rest.controls : []) this.#controls.push(control);
    return rest;
  }

  async *#finish(turn: Turn): AsyncGenerator<Chunk, void> {
    if (!this.#hasStarted) yield* this.#start();
    const isCutShort = callsToRun(turn).length > 0 && turn.text === '';
    if (isCutShort)
      yield this.#reply.chunk({ content: `The run ended after ${this.#maxTurns} calls of the model without an answer.` });
    const attachments = this.#reply.attach(this.#runs.citations.usedIn(this.#text));
    if (attachments.length > 0) yield this.#reply.chunk({ custom_content: { attachments } });
    yield* this.#end(this.#reply.chunk({}, turn.finishReason === 'tool_calls' ? 'stop' : (turn.finishReason ?? 'stop')));
  }

  async *#handOut(calls: readonly ToolCall[]): AsyncGenerator<Chunk, void> {
    const { deltas, finishReason } = toHandedOut(calls, this.#options.handsOut ?? 'all tools');
    for (const delta of deltas) yield this.#reply.chunk(delta);
    yield* this.#end(this.#reply.chunk({}, finishReason), calls);
  }

  async *#askUser(questions: readonly AskedQuestion[], pending: readonly ToolCall[]): AsyncGenerator<Chunk, void> {
    const [first] = questions;
    const controls = first === undefined ? [] : toControls(first.question);
    this.#controls.unshift(...controls);
    yield this.#reply.chunk({ content: this.#asParagraph(first?.question.message ?? '') });
    yield this.#reply.chunk({
      custom_content: { controls: controls.map((control) => ({ ...control, index: this.#reply.nextControl() })) },
    });
    yield* this.#end(this.#reply.chunk({}, 'stop'), pending, questions);
  }

  async *#end(
    last: Chunk,
    pending: readonly ToolCall[] = [],
    questions: readonly AskedQuestion[] = [],
  ): AsyncGenerator<Chunk, void> {
    const memory = { added: this.#added, pending, questions, controls: this.#controls, inner: this.#inner };
    const state = await this.#options.toState?.(memory);
    if (state !== undefined) yield this.#reply.chunk({ custom_content: { state } });
    yield last;
    if (this.#tally.items.length === 0) return;
    yield { ...this.#reply.bare(), ...this.#tally.totals() };
  }
}

/** None of a reply that was cut off: half of a call must not be run. */
function callsToRun(turn: Turn): ToolCall[] {
  return turn.finishReason === 'length' || turn.finishReason === 'content_filter' ? [] : turn.calls;
}

function noteLastTurn(answers: readonly ToolMessage[]): void {
  const last = answers.at(-1);
  if (last !== undefined) last.content += lastTurnNote;
}

function turnsIn(added: readonly Message[]): number {
  return added.filter(({ role }) => role === 'assistant').length;
}

function namesOf(tools: unknown): Set<string> {
  const names = (Array.isArray(tools) ? tools : []).map((tool) =>
    isJsonObject(tool) && isJsonObject(tool.function) ? tool.function.name : undefined,
  );
  return new Set(names.filter((name) => typeof name === 'string'));
}
