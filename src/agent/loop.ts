import { isJsonObject, type JsonObject } from '#base/json/json.ts';
import type { Chunk, Delta, ResponseCustomContent } from '#contract/chat/chunk.ts';
import type { OfferedControl } from '#contract/chat/completed-control.ts';
import { Frame } from '#contract/chat/frame.ts';
import type { Message } from '#contract/chat/message.ts';
import { ParleyError, withMembers } from '#contract/errors/errors.ts';
import { CheckTime } from '#contract/schemas/schema-error.ts';
import { type AnswerFormat, answerFormatOf, readAnswer, toFormatMessages } from '#domain/structured-answer.ts';
import type { ApprovedCall } from '#domain/tools/remote-server.ts';
import { UsageCollector } from '#domain/usage/usage.ts';
import { Citations } from './citations.ts';
import type { LoopOptions } from './loop-options.ts';
import { ModelRequests } from './model-requests.ts';
import { toRemoteCall, toToolCall, withResults } from './remote-tools.ts';
import { asParagraph, Renumbering, Reply, toHandedOut } from './reply.ts';
import { KeptResults } from './results/kept-results.ts';
import { createReadResultTool } from './results/read-result-tool.ts';
import type { AnsweredQuestion, RunMemory } from './run-memory.ts';
import { isMediaMessage, type ToolMedia, toMediaMessages } from './shown-media.ts';
import { contextStageName, toContextMarkdown } from './stages.ts';
import { type AskedQuestion, runTools, type ToolRuns, toControls } from './tool-run.ts';
import { Toolset } from './toolset.ts';
import { callsToRun, inOrderAsked, namesOf, noteLastTurn, type ToolCall, Turn, TurnUsage, turnsIn } from './turn.ts';

/**
 * Lets a model work with tools (docs/quick-apps.md, How a run works): asks it, runs the tools it calls, sends it their results, and
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
  readonly #requests: ModelRequests;
  #added: Message[];
  #messages: readonly Message[];
  /** What the answer must be, in a run with tools; undefined: any text. */
  readonly #format: AnswerFormat | undefined;
  #hasStarted = false;
  #text = '';
  #inner: JsonObject | undefined;
  readonly #controls: OfferedControl[] = [];

  constructor(options: LoopOptions) {
    this.#options = options;
    this.#maxTurns = options.maxTurns;
    this.#added = [...(options.added ?? [])];
    this.#messages = options.request.messages;
    this.#callersNames = namesOf(options.request.tools);
    this.#reply = new Reply({ deployment: options.model, ...options });
    const toolset = new Toolset(options.tools, this.#callersNames);
    const results = this.#prepareResults(toolset);
    this.#runs = {
      reply: this.#reply,
      toolset,
      results,
      tally: this.#tally,
      citations: options.citations ?? new Citations(),
      clock: options.clock,
      signal: options.signal,
      checkTime: new CheckTime(),
      timeoutMs: options.timeoutMs,
      maxResultBytes: options.maxResultBytes,
      onFault: options.onToolFault ?? (() => undefined),
      onRefused: options.onRefusedCall,
    };
    this.#requests = new ModelRequests(options, { toolset, results, addUsage: (usage) => this.#tally.add(usage) });
    this.#format = this.#requests.offersTools ? answerFormatOf(options.request) : undefined;
  }

  #prepareResults(toolset: Toolset): KeptResults {
    const { earlierResults, maxResultBytes, watchTool = (tool) => tool } = this.#options;
    const tool = createReadResultTool(
      () => this.#runs.results,
      () => this.#conversation,
      maxResultBytes,
    );
    return new KeptResults(toolset.prepare(watchTool(tool)), earlierResults);
  }

  /** What of a run that fails is done is not lost: its state goes before the error and with it. */
  async *run(): AsyncGenerator<Chunk, void> {
    try {
      yield* this.#run();
    } catch (thrown) {
      if (this.#added.length === 0 || this.#options.signal.aborted) throw thrown;
      const memory = { pending: [], controls: [], inner: undefined, isBroken: true as const };
      const state = await this.#options.toState?.({ ...this.#kept(), ...memory });
      if (state === undefined) throw thrown;
      yield this.#reply.chunk({ custom_content: { state } });
      throw thrown instanceof ParleyError ? withMembers(thrown, { custom_content: { state }, ...this.#tally.totals() }) : thrown;
    }
  }

  async *#run(): AsyncGenerator<Chunk, void> {
    const { answered, approved = [] } = this.#options;
    if (approved.length > 0) yield* this.#runApproved(approved);
    if (answered !== undefined && (yield* this.#goOn(answered))) return;
    for (let nth = 1 + turnsIn(this.#added); ; nth += 1) {
      const turn = yield* this.#ask(nth);
      const calls = nth < this.#maxTurns ? callsToRun(turn) : [];
      if (calls.length === 0)
        return yield* this.#format === undefined ? this.#finish(turn) : this.#finishInForm(turn, nth, this.#format);
      yield* this.#noteAside(turn);
      const callers = calls.filter((call) => this.#callersNames.has(call.function.name));
      const held = calls.filter((call) => this.#isHeld(call));
      const own = calls.filter((call) => !callers.includes(call) && !held.includes(call));
      const { answers, media, questions } = yield* runTools(own, this.#runsOf(own, nth));
      this.#added.push(this.#toMessage(turn), ...answers, ...this.#show(media));
      if (held.length > 0) return yield* this.#askApproval(held, callers);
      if (yield* this.#stop(questions, callers)) return;
      if (nth + 1 === this.#maxTurns) noteLastTurn(answers);
    }
  }

  /** Whether a call waits for the user's approval. */
  #isHeld({ function: { name } }: ToolCall): boolean {
    return !this.#callersNames.has(name) && this.#runs.toolset.find(name)?.remote?.needsApproval === true;
  }

  #toMessage(turn: Turn): Message {
    const state = this.#options.returnsState === true ? this.#inner : undefined;
    return { ...turn.toMessage(), ...(state !== undefined && { custom_content: { state } }) };
  }

  async *#runApproved(approved: readonly ApprovedCall[]): AsyncGenerator<Chunk, void> {
    yield* this.#start();
    const approvals = new Map(approved.map(({ id, approvalRequest }) => [id, approvalRequest]));
    const { answers } = yield* runTools(approved.map(toToolCall), { ...this.#runs, approvals });
    this.#messages = withResults(this.#messages, answers);
  }

  /** Ends the reply: the calls are made once the user approves of them. */
  async *#askApproval(held: readonly ToolCall[], callers: readonly ToolCall[]): AsyncGenerator<Chunk, void> {
    const remote = held.flatMap((call) => {
      const tool = this.#runs.toolset.find(call.function.name)?.remote;
      return tool === undefined ? [] : [{ kind: 'held' as const, ...toRemoteCall(call, tool) }];
    });
    yield this.#reply.chunk({ custom_content: { remote } });
    yield* this.#handOut(callers);
  }

  /** Runs a call again, with the user's answer; true if the run stops once more. */
  async *#goOn({ questions: [asked, ...others], value, pending }: AnsweredQuestion): AsyncGenerator<Chunk, boolean> {
    if (asked === undefined) return false;
    const { call, question } = asked;
    yield* this.#start();
    const userAnswers = new Map([[call.id, { resume: question.resume, value }]]);
    const runs = this.#runsOf([call], 1 + turnsIn(this.#added));
    const { answers, media, questions } = yield* runTools([call], { ...runs, userAnswers });
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

  /** What so many runs share: results take no more than the model can be sent. */
  #runsOf(calls: readonly ToolCall[], nth: number): ToolRuns {
    const most = this.#requests.resultBytes(nth, this.#conversation, calls.length);
    return most < this.#runs.maxResultBytes ? { ...this.#runs, maxResultBytes: most } : this.#runs;
  }

  /** What outlives the run, but for what it waits for. */
  #kept(): Pick<RunMemory, 'added' | 'wholeResults' | 'context'> {
    const context = this.#requests.toRemember([...this.#options.request.messages, ...this.#added]);
    const { own } = this.#runs.results;
    return {
      added: this.#added,
      ...(Object.keys(own).length > 0 && { wholeResults: own }),
      ...(context !== undefined && { context }),
    };
  }

  /** The messages so far. */
  get #conversation(): Message[] {
    return [...this.#messages, ...this.#added];
  }

  #show(media: readonly ToolMedia[]): Message[] {
    const { takes } = this.#options;
    return takes === undefined ? [] : toMediaMessages(media, takes, this.#added);
  }

  async *#ask(nth: number): AsyncGenerator<Chunk, Turn> {
    const turn = new Turn();
    const usage = new TurnUsage(this.#options.model);
    const inner = new Renumbering(this.#reply);
    const forget = (): void => {
      this.#added = this.#added.filter((message) => !isMediaMessage(message));
    };
    for await (const frame of this.#requests.ask(nth, this.#conversation, forget)) {
      for (const chunk of frame.chunks) {
        if (!this.#hasStarted) yield* this.#start();
        yield* this.#tellChanges();
        usage.take(chunk);
        const delta = turn.take(chunk);
        const told = delta && this.#held(delta);
        if (told !== undefined) yield this.#pass(told, turn, inner);
      }
    }
    this.#options.signal.throwIfAborted();
    const closing = inner.closing('completed');
    if (closing.length > 0) yield this.#reply.chunk({ custom_content: { stages: closing } });
    this.#tally.add(usage.items());
    if (this.#format !== undefined) return turn;
    if (turn.text !== '') this.#text += this.#asParagraph(turn.text);
    return turn;
  }

  /** Ends a run whose answer is to have a form. If the last turn has another one, the model is asked once more, without tools. */
  async *#finishInForm(draft: Turn, nth: number, format: AnswerFormat): AsyncGenerator<Chunk, void> {
    let turn = draft;
    let read = readAnswer(turn.text, format);
    if ('fault' in read && turn.finishReason === 'stop' && nth < this.#maxTurns) {
      this.#requests.askInForm(toFormatMessages(turn.text, read.fault));
      turn = yield* this.#ask(nth + 1);
      read = readAnswer(turn.text, format);
    }
    if ('fault' in read && !turn.isCutOff)
      throw new ParleyError('upstream_failed', `The answer of the model does not follow response_format: ${read.fault}.`);
    this.#text = 'json' in read ? read.json : turn.text;
    if (this.#text !== '') yield this.#reply.chunk({ content: this.#text });
    yield* this.#finish(turn);
  }

  /** What a turn said beside its calls, where the answer must be alone. */
  *#noteAside({ text }: Turn): Generator<Chunk, void> {
    if (this.#format === undefined || text === '') return;
    yield* this.#reply.stage('Said meanwhile', text, 'completed');
  }

  *#tellChanges(): Generator<Chunk, void> {
    for (const change of this.#requests.takeChanges()) {
      const status = change.fault === undefined ? 'completed' : 'failed';
      yield* this.#reply.stage(contextStageName, toContextMarkdown(change), status);
    }
  }

  *#start(): Generator<Chunk, void> {
    this.#hasStarted = true;
    yield this.#reply.chunk({ role: 'assistant' });
    const { listed = [] } = this.#options;
    if (listed.length > 0) yield this.#reply.chunk({ custom_content: { remote: [...listed] } });
    for (const { name, reason } of this.#options.missing ?? []) yield* this.#reply.stage(name, reason, 'failed');
  }

  /** Text is held back as long as it may be none of the answer. */
  #held(delta: Delta): Delta | undefined {
    if (this.#format === undefined || delta.content === undefined) return delta;
    const { content: _content, ...others } = delta;
    return Object.keys(others).length === 0 ? undefined : others;
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
    if (!isJsonObject(content)) return content;
    // What an inner reply says of servers was done by nobody here.
    const { remote: _remote, ...told } = content;
    if (this.#options.toState === undefined) return told;
    const { state, ...rest } = told;
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
    const memory = { ...this.#kept(), pending, questions, controls: this.#controls, inner: this.#inner };
    const state = await this.#options.toState?.(memory);
    if (state !== undefined) yield this.#reply.chunk({ custom_content: { state } });
    yield last;
    if (this.#tally.items.length === 0) return;
    yield { ...this.#reply.bare(), ...this.#tally.totals() };
  }
}
