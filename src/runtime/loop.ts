import type { Clock } from '#base/clock.ts';
import { isJsonObject, type JsonObject } from '#base/json.ts';
import type { ChatRequest } from '#contract/chat-request.ts';
import type { Chunk, Delta } from '#contract/chunk.ts';
import { Frame } from '#contract/frame.ts';
import type { Message } from '#contract/message.ts';
import type { Tool } from '#domain/tool.ts';
import { Renumbering, Reply } from './reply.ts';
import { Tally, TurnUsage } from './tally.ts';
import { runTools, type ToolMessage, type ToolRuns } from './tool-run.ts';
import { Toolset } from './toolset.ts';
import { type ToolCall, Turn } from './turn.ts';

export interface LoopOptions {
  /** One call of the model; its frames end only after a good end. */
  readonly ask: (request: ChatRequest) => AsyncIterable<Frame>;
  /** What the caller asked. Tools in it are the caller's own: it is handed their calls. */
  readonly request: ChatRequest;
  readonly tools: readonly Tool[];
  /** Deployment id of the model, for usage that comes without statistics. */
  readonly model: string;
  /** Id of the reply. */
  readonly id: string;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Calls of the model, the last one without tools; default 15. */
  readonly maxTurns?: number;
  /** Milliseconds one tool run may take; default 300 000. */
  readonly timeoutMs?: number;
  /** Bytes of a tool's result that the model is shown; default 40 000. */
  readonly maxResultBytes?: number;
  /** Toolsets that are missing, each shown as a failed stage before anything else. */
  readonly missing?: readonly { readonly name: string; readonly reason: string }[];
  /** Makes the reply's `state` from the messages that the run added; asked once, at the end. */
  readonly toState?: (added: readonly Message[]) => JsonObject | undefined;
  /** Hears of tool faults whose reason nobody is told. */
  readonly onToolFault?: (tool: string, thrown: unknown) => void;
}

const lastTurnNote = '\n\n[No more tools can be called in this run: answer now with what is known.]';

/**
 * Lets a model work with tools (contract 8): asks it, runs the tools it calls, tells it what they gave, and again, until it
 * answers. One choice. Nothing comes before the model's first chunk; what fails there or later is thrown. Where a reply calls
 * tools of the caller as well, the run's own tools run first, and then it stops with the caller's calls.
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
  readonly #tally = new Tally();
  readonly #runs: ToolRuns;
  readonly #added: Message[] = [];
  #hasStarted = false;
  #text = '';

  constructor(options: LoopOptions) {
    this.#options = options;
    this.#maxTurns = options.maxTurns ?? 15;
    this.#callersNames = namesOf(options.request.tools);
    this.#reply = new Reply(options.id, options.clock);
    this.#runs = {
      reply: this.#reply,
      toolset: new Toolset(options.tools, this.#callersNames),
      tally: this.#tally,
      clock: options.clock,
      signal: options.signal,
      timeoutMs: options.timeoutMs ?? 300_000,
      maxResultBytes: options.maxResultBytes ?? 40_000,
      onFault: options.onToolFault ?? (() => undefined),
    };
  }

  async *run(): AsyncGenerator<Chunk, void> {
    for (let nth = 1; ; nth += 1) {
      const turn = yield* this.#ask(nth);
      const calls = nth < this.#maxTurns ? callsToRun(turn) : [];
      if (calls.length === 0) return yield* this.#finish(turn);
      const callers = calls.filter((call) => this.#callersNames.has(call.function.name));
      const own = calls.filter((call) => !callers.includes(call));
      const answers = yield* runTools(own, this.#runs);
      this.#added.push(turn.toMessage(), ...answers);
      if (callers.length > 0) return yield* this.#handOut(callers);
      if (nth + 1 === this.#maxTurns) noteLastTurn(answers);
    }
  }

  async *#ask(nth: number): AsyncGenerator<Chunk, Turn> {
    const turn = new Turn(nth);
    const usage = new TurnUsage(this.#options.model);
    const inner = new Renumbering(this.#reply);
    for await (const frame of this.#options.ask(this.#toRequest(nth))) {
      for (const chunk of frame.chunks) {
        if (!this.#hasStarted) yield* this.#start();
        usage.take(chunk);
        const delta = turn.take(chunk);
        if (delta !== undefined) yield this.#pass(delta, turn, inner);
      }
    }
    this.#options.signal.throwIfAborted();
    this.#tally.add(usage.items());
    this.#text += turn.text;
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
    const { custom_content } = delta;
    const isFirstText = turn.text !== '' && turn.text === delta.content && this.#text !== '';
    return this.#reply.chunk({
      ...delta,
      ...(isFirstText && !/\s$/.test(this.#text) && { content: `\n\n${delta.content}` }),
      ...(isJsonObject(custom_content) && { custom_content: inner.customContent(custom_content) }),
    });
  }

  *#finish(turn: Turn): Generator<Chunk, void> {
    if (!this.#hasStarted) yield* this.#start();
    const isCutShort = callsToRun(turn).length > 0 && turn.text === '';
    if (isCutShort)
      yield this.#reply.chunk({ content: `The run ended after ${this.#maxTurns} calls of the model without an answer.` });
    yield* this.#end(this.#reply.chunk({}, turn.finishReason === 'tool_calls' ? 'stop' : (turn.finishReason ?? 'stop')));
  }

  *#handOut(calls: readonly ToolCall[]): Generator<Chunk, void> {
    yield this.#reply.chunk({ tool_calls: calls.map((call, index) => ({ ...call, index })) });
    yield* this.#end(this.#reply.chunk({}, 'tool_calls'));
  }

  *#end(last: Chunk): Generator<Chunk, void> {
    const state = this.#options.toState?.(this.#added);
    if (state !== undefined) yield this.#reply.chunk({ custom_content: { state } });
    yield last;
    if (this.#tally.isEmpty) return;
    const { usage, statistics } = this.#tally.totals();
    yield { ...this.#reply.bare(), usage };
    yield { ...this.#reply.bare(), statistics };
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

function namesOf(tools: unknown): Set<string> {
  const names = (Array.isArray(tools) ? tools : []).map((tool) =>
    isJsonObject(tool) && isJsonObject(tool.function) ? tool.function.name : undefined,
  );
  return new Set(names.filter((name) => typeof name === 'string'));
}
