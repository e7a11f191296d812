import { isJsonObject, type JsonObject } from '#base/json/json.ts';
import type { Chunk, Delta, ResponseCustomContent } from '#contract/chat/chunk.ts';
import type { OfferedControl } from '#contract/chat/completed-control.ts';
import { Frame } from '#contract/chat/frame.ts';
import type { Message } from '#contract/chat/message.ts';
import { ParleyError, withMembers } from '#contract/errors/errors.ts';
import { CheckTime } from '#contract/schemas/schema-error.ts';
import { type AnswerFormat, findAnswerFormat, parseAnswer, toFormatMessages } from '#domain/parse-answer.ts';
import type { ApprovedCall } from '#domain/tools/remote-server.ts';
import { UsageCollector } from '#domain/usage/usage.ts';
import { Citations } from './citations.ts';
import type { LoopOptions } from './loop-options.ts';
import { ModelRequests } from './model-requests.ts';
import { insertResults, toRemoteCall, toToolCall } from './remote-tools.ts';
import { asParagraph, Renumbering, Reply, toHandover } from './reply.ts';
import { FullResults } from './results/full-results.ts';
import { createReadResultTool } from './results/read-result-tool.ts';
import type { AnsweredQuestion, RunMemory } from './run-memory.ts';
import { contextStageName, toContextMarkdown } from './stages.ts';
import { isMediaMessage, type ToolMedia, toMediaMessages } from './tool-media.ts';
import { type PendingQuestion, runTools, type ToolRuns, toControls } from './tool-run.ts';
import { Toolset } from './toolset.ts';
import {
  appendLastTurnNote,
  callsToRun,
  countTurns,
  listToolNames,
  sortByCallOrder,
  type ToolCall,
  Turn,
  TurnUsage,
} from './turn.ts';

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
  readonly #callerToolNames: ReadonlySet<string>;
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
    this.#callerToolNames = listToolNames(options.request.tools);
    this.#reply = new Reply({ deployment: options.model, ...options });
    const toolset = new Toolset(options.tools, this.#callerToolNames);
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
      onToolError: options.onToolError ?? (() => undefined),
      onRejectedCall: options.onRejectedCall,
    };
    this.#requests = new ModelRequests(options, { toolset, results, addUsage: (usage) => this.#tally.add(usage) });
    this.#format = this.#requests.offersTools ? findAnswerFormat(options.request) : undefined;
  }

  #prepareResults(toolset: Toolset): FullResults {
    const { earlierResults, maxResultBytes, wrapTool = (tool) => tool } = this.#options;
    const tool = createReadResultTool(
      () => this.#runs.results,
      () => this.#conversation,
      maxResultBytes,
    );
    return new FullResults(toolset.prepare(wrapTool(tool)), earlierResults);
  }

  /** What of a run that fails is done is not lost: its state goes before the error and with it. */
  async *run(): AsyncGenerator<Chunk, void> {
    try {
      yield* this.#run();
    } catch (error) {
      if (this.#added.length === 0 || this.#options.signal.aborted) throw error;
      const memory = { pending: [], controls: [], inner: undefined, isBroken: true as const };
      const state = await this.#options.buildState?.({ ...this.#createMemory(), ...memory });
      if (state === undefined) throw error;
      yield this.#reply.createChunk({ custom_content: { state } });
      throw error instanceof ParleyError ? withMembers(error, { custom_content: { state }, ...this.#tally.totals() }) : error;
    }
  }

  async *#run(): AsyncGenerator<Chunk, void> {
    const { answeredQuestion, approvedCalls = [] } = this.#options;
    if (approvedCalls.length > 0) yield* this.#runApproved(approvedCalls);
    if (answeredQuestion !== undefined && (yield* this.#resume(answeredQuestion))) return;
    for (let turnNumber = 1 + countTurns(this.#added); ; turnNumber += 1) {
      const turn = yield* this.#sendRequest(turnNumber);
      const calls = turnNumber < this.#maxTurns ? callsToRun(turn) : [];
      if (calls.length === 0)
        return yield* this.#format === undefined ? this.#finish(turn) : this.#finishFormatted(turn, turnNumber, this.#format);
      yield* this.#showInterimText(turn);
      const callerCalls = calls.filter((call) => this.#callerToolNames.has(call.function.name));
      const heldCalls = calls.filter((call) => this.#needsApproval(call));
      const ownCalls = calls.filter((call) => !callerCalls.includes(call) && !heldCalls.includes(call));
      const { answers, media, questions } = yield* runTools(ownCalls, this.#createRuns(ownCalls, turnNumber));
      this.#added.push(this.#toMessage(turn), ...answers, ...this.#createMediaMessages(media));
      if (heldCalls.length > 0) return yield* this.#requestApproval(heldCalls, callerCalls);
      if (yield* this.#pause(questions, callerCalls)) return;
      if (turnNumber + 1 === this.#maxTurns) appendLastTurnNote(answers);
    }
  }

  /** Whether a call waits for the user's approval. */
  #needsApproval({ function: { name } }: ToolCall): boolean {
    return !this.#callerToolNames.has(name) && this.#runs.toolset.find(name)?.remote?.needsApproval === true;
  }

  #toMessage(turn: Turn): Message {
    const state = this.#options.shouldReturnState === true ? this.#inner : undefined;
    return { ...turn.toMessage(), ...(state !== undefined && { custom_content: { state } }) };
  }

  async *#runApproved(approvedCalls: readonly ApprovedCall[]): AsyncGenerator<Chunk, void> {
    yield* this.#start();
    const approvals = new Map(approvedCalls.map(({ id, approvalRequest }) => [id, approvalRequest]));
    const { answers } = yield* runTools(approvedCalls.map(toToolCall), { ...this.#runs, approvals });
    this.#messages = insertResults(this.#messages, answers);
  }

  /** Ends the reply: the calls are made once the user approves of them. */
  async *#requestApproval(heldCalls: readonly ToolCall[], callerCalls: readonly ToolCall[]): AsyncGenerator<Chunk, void> {
    const remote = heldCalls.flatMap((call) => {
      const tool = this.#runs.toolset.find(call.function.name)?.remote;
      return tool === undefined ? [] : [{ kind: 'held' as const, ...toRemoteCall(call, tool) }];
    });
    yield this.#reply.createChunk({ custom_content: { remote } });
    yield* this.#handOver(callerCalls);
  }

  /** Runs a call again, with the user's answer; true if the run stops once more. */
  async *#resume({ questions: [current, ...remaining], value, pending }: AnsweredQuestion): AsyncGenerator<Chunk, boolean> {
    if (current === undefined) return false;
    const { call, question } = current;
    yield* this.#start();
    const userAnswers = new Map([[call.id, { resume: question.resume, value }]]);
    const runs = this.#createRuns([call], 1 + countTurns(this.#added));
    const { answers, media, questions } = yield* runTools([call], { ...runs, userAnswers });
    this.#added = sortByCallOrder([...this.#added, ...answers, ...this.#createMediaMessages(media)]);
    if (countTurns(this.#added) + 1 === this.#maxTurns) appendLastTurnNote(answers);
    return yield* this.#pause([...questions, ...remaining], pending);
  }

  /** True if the run cannot go on before the user, or the caller, did something. */
  async *#pause(questions: readonly PendingQuestion[], callerCalls: readonly ToolCall[]): AsyncGenerator<Chunk, boolean> {
    if (questions.length > 0) yield* this.#promptUser(questions, callerCalls);
    else if (callerCalls.length > 0) yield* this.#handOver(callerCalls);
    return questions.length > 0 || callerCalls.length > 0;
  }

  /** What so many runs share: results take no more than the model can be sent. */
  #createRuns(calls: readonly ToolCall[], turnNumber: number): ToolRuns {
    const maxResultBytes = this.#requests.getMaxResultBytes(turnNumber, this.#conversation, calls.length);
    return maxResultBytes < this.#runs.maxResultBytes ? { ...this.#runs, maxResultBytes: maxResultBytes } : this.#runs;
  }

  /** What outlives the run, but for what it waits for. */
  #createMemory(): Pick<RunMemory, 'added' | 'fullResults' | 'context'> {
    const context = this.#requests.exportMemory([...this.#options.request.messages, ...this.#added]);
    const { ownResults } = this.#runs.results;
    return {
      added: this.#added,
      ...(Object.keys(ownResults).length > 0 && { fullResults: ownResults }),
      ...(context !== undefined && { context }),
    };
  }

  /** The messages so far. */
  get #conversation(): Message[] {
    return [...this.#messages, ...this.#added];
  }

  #createMediaMessages(media: readonly ToolMedia[]): Message[] {
    const { acceptedMedia } = this.#options;
    return acceptedMedia === undefined ? [] : toMediaMessages(media, acceptedMedia, this.#added);
  }

  async *#sendRequest(turnNumber: number): AsyncGenerator<Chunk, Turn> {
    const turn = new Turn();
    const usage = new TurnUsage(this.#options.model);
    const inner = new Renumbering(this.#reply);
    const dropMedia = (): void => {
      this.#added = this.#added.filter((message) => !isMediaMessage(message));
    };
    for await (const frame of this.#requests.sendRequest(turnNumber, this.#conversation, dropMedia)) {
      for (const chunk of frame.chunks) {
        if (!this.#hasStarted) yield* this.#start();
        yield* this.#reportChanges();
        usage.addChunk(chunk);
        const delta = turn.addChunk(chunk);
        const visibleDelta = delta && this.#filterDelta(delta);
        if (visibleDelta !== undefined) yield this.#toChunk(visibleDelta, turn, inner);
      }
    }
    this.#options.signal.throwIfAborted();
    const closing = inner.closeStages('completed');
    if (closing.length > 0) yield this.#reply.createChunk({ custom_content: { stages: closing } });
    this.#tally.add(usage.items());
    if (this.#format !== undefined) return turn;
    if (turn.text !== '') this.#text += this.#asParagraph(turn.text);
    return turn;
  }

  /** Ends a run whose answer is to have a form. If the last turn has another one, the model is asked once more, without tools. */
  async *#finishFormatted(draft: Turn, turnNumber: number, format: AnswerFormat): AsyncGenerator<Chunk, void> {
    let turn = draft;
    let answer = parseAnswer(turn.text, format);
    if ('error' in answer && turn.finishReason === 'stop' && turnNumber < this.#maxTurns) {
      this.#requests.requestFormat(toFormatMessages(turn.text, answer.error));
      turn = yield* this.#sendRequest(turnNumber + 1);
      answer = parseAnswer(turn.text, format);
    }
    if ('error' in answer && !turn.isCutOff)
      throw new ParleyError('upstream_failed', `The answer of the model does not follow response_format: ${answer.error}.`);
    this.#text = 'json' in answer ? answer.json : turn.text;
    if (this.#text !== '') yield this.#reply.createChunk({ content: this.#text });
    yield* this.#finish(turn);
  }

  /** What a turn said beside its calls, where the answer must be alone. */
  *#showInterimText({ text }: Turn): Generator<Chunk, void> {
    if (this.#format === undefined || text === '') return;
    yield* this.#reply.createStage('Said meanwhile', text, 'completed');
  }

  *#reportChanges(): Generator<Chunk, void> {
    for (const change of this.#requests.consumeChanges()) {
      const status = change.summaryError === undefined ? 'completed' : 'failed';
      yield* this.#reply.createStage(contextStageName, toContextMarkdown(change), status);
    }
  }

  *#start(): Generator<Chunk, void> {
    this.#hasStarted = true;
    yield this.#reply.createChunk({ role: 'assistant' });
    const { serverDeltas = [] } = this.#options;
    if (serverDeltas.length > 0) yield this.#reply.createChunk({ custom_content: { remote: [...serverDeltas] } });
    for (const { name, reason } of this.#options.missing ?? []) yield* this.#reply.createStage(name, reason, 'failed');
  }

  /** Text is held back as long as it may be none of the answer. */
  #filterDelta(delta: Delta): Delta | undefined {
    if (this.#format === undefined || delta.content === undefined) return delta;
    const { content: _content, ...rest } = delta;
    return Object.keys(rest).length === 0 ? undefined : rest;
  }

  #toChunk(delta: Delta, turn: Turn, inner: Renumbering): Chunk {
    const custom_content = this.#recordContent(delta.custom_content);
    const isFirstText = turn.text !== '' && turn.text === delta.content;
    const { custom_content: _custom, ...rest } = delta;
    return this.#reply.createChunk({
      ...rest,
      ...(isFirstText && { content: this.#asParagraph(turn.text) }),
      ...(isJsonObject(custom_content) && { custom_content: inner.renumberContent(custom_content) }),
    });
  }

  /** The text, as a paragraph of its own if the reply has others already. */
  #asParagraph(text: string): string {
    return asParagraph(this.#text, text);
  }

  /** What of the model's own reply is passed on, once it is remembered. */
  #recordContent(content: ResponseCustomContent | undefined): ResponseCustomContent | undefined {
    if (!isJsonObject(content)) return content;
    // What an inner reply says of servers was done by nobody here.
    const { remote: _remote, ...visibleContent } = content;
    if (this.#options.buildState === undefined) return visibleContent;
    const { state, ...rest } = visibleContent;
    if (isJsonObject(state)) this.#inner = state;
    for (const control of Array.isArray(rest.controls) ? rest.controls : []) this.#controls.push(control);
    return rest;
  }

  async *#finish(turn: Turn): AsyncGenerator<Chunk, void> {
    if (!this.#hasStarted) yield* this.#start();
    const hasNoAnswer = callsToRun(turn).length > 0 && turn.text === '';
    if (hasNoAnswer)
      yield this.#reply.createChunk({ content: `The run ended after ${this.#maxTurns} calls of the model without an answer.` });
    const attachments = this.#reply.attach(this.#runs.citations.collectAttachments(this.#text));
    if (attachments.length > 0) yield this.#reply.createChunk({ custom_content: { attachments } });
    yield* this.#end(this.#reply.createChunk({}, turn.finishReason === 'tool_calls' ? 'stop' : (turn.finishReason ?? 'stop')));
  }

  async *#handOver(calls: readonly ToolCall[]): AsyncGenerator<Chunk, void> {
    const { deltas, finishReason } = toHandover(calls, this.#options.handoverMode ?? 'all tools');
    for (const delta of deltas) yield this.#reply.createChunk(delta);
    yield* this.#end(this.#reply.createChunk({}, finishReason), calls);
  }

  async *#promptUser(questions: readonly PendingQuestion[], pending: readonly ToolCall[]): AsyncGenerator<Chunk, void> {
    const [first] = questions;
    const controls = first === undefined ? [] : toControls(first.question);
    this.#controls.unshift(...controls);
    yield this.#reply.createChunk({ content: this.#asParagraph(first?.question.message ?? '') });
    yield this.#reply.createChunk({
      custom_content: { controls: controls.map((control) => ({ ...control, index: this.#reply.nextControl() })) },
    });
    yield* this.#end(this.#reply.createChunk({}, 'stop'), pending, questions);
  }

  async *#end(
    last: Chunk,
    pending: readonly ToolCall[] = [],
    questions: readonly PendingQuestion[] = [],
  ): AsyncGenerator<Chunk, void> {
    const memory = { ...this.#createMemory(), pending, questions, controls: this.#controls, inner: this.#inner };
    const state = await this.#options.buildState?.(memory);
    if (state !== undefined) yield this.#reply.createChunk({ custom_content: { state } });
    yield last;
    if (this.#tally.items.length === 0) return;
    yield { ...this.#reply.createBareChunk(), ...this.#tally.totals() };
  }
}
