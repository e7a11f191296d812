import { isJsonObject, type JsonObject } from '#base/json/json.ts';
import type { Chunk, Delta, ResponseCustomContent } from '#contract/chat/chunk.ts';
import type { OfferedControl } from '#contract/chat/completed-control.ts';
import { Frame } from '#contract/chat/frame.ts';
import type { Message } from '#contract/chat/message.ts';
import { ParleyError, withMembers } from '#contract/errors/errors.ts';
import { CheckTime } from '#contract/schemas/schema-error.ts';
import { type AnswerFormat, findAnswerFormat, parseAnswer, toFormatMessages } from '#domain/calls/parse-answer.ts';
import type { ApprovedCall } from '#domain/tools/remote-server.ts';
import { UsageCollector } from '#domain/usage/usage.ts';
import { Citations } from './citations.ts';
import type { AnsweredQuestion, LoopOptions, RunMemory } from './loop-options.ts';
import { ModelRequests } from './model-requests.ts';
import { insertResults, toRemoteCall, toToolCall } from './remote-tools.ts';
import { asParagraph, Renumbering, Reply, toHandover } from './reply.ts';
import { createReadResultTool, FullResults } from './results/full-results.ts';
import { contextStageName, toContextMarkdown } from './stages.ts';
import { isMediaMessage, type ToolMedia, toMediaMessages } from './tool-media.ts';
import { type PendingQuestion, runTools, type ToolRunContext, toControls } from './tool-run.ts';
import { Toolset } from './toolset.ts';
import {
  appendLastTurnNote,
  countTurns,
  listCallsToRun,
  listToolNames,
  sortByCallOrder,
  type ToolCall,
  Turn,
  TurnUsage,
} from './turn.ts';

/**
 * Lets a model work with tools (docs/quick-apps.md, How a run works): sends it a request, runs the tools that it calls, sends
 * the results, and repeats until it answers. The reply has one choice.
 *
 * The reply to a new run starts after the model's first chunk. Errors of the model are thrown. If a reply also calls tools of
 * the client, the run's own tools run first, and then the run stops with the client's calls. If a tool has a question for the
 * user, the run stops with the question and the controls to answer it. The client's calls follow after the answer.
 */
export async function* runLoop(options: LoopOptions): AsyncGenerator<Frame, void> {
  const loop = new Loop(options);
  for await (const chunk of loop.run()) yield Frame.ofChunks(chunk);
}

class Loop {
  readonly #options: LoopOptions;
  readonly #clientToolNames: ReadonlySet<string>;
  readonly #reply: Reply;
  readonly #usage = new UsageCollector();
  readonly #toolContext: ToolRunContext;
  readonly #requests: ModelRequests;
  #added: Message[];
  #messages: readonly Message[];
  /** Required format of the answer in a run with tools. If undefined, any text is valid. */
  readonly #format: AnswerFormat | undefined;
  #hasStarted = false;
  #text = '';
  #innerState: JsonObject | undefined;
  readonly #controls: OfferedControl[] = [];

  constructor(options: LoopOptions) {
    this.#options = options;
    this.#added = [...(options.added ?? [])];
    this.#messages = options.request.messages;
    this.#clientToolNames = listToolNames(options.request.tools);
    this.#reply = new Reply({ deployment: options.model, ...options });
    const toolset = new Toolset(options.tools, this.#clientToolNames);
    const results = this.#prepareResults(toolset);
    this.#toolContext = {
      ...options,
      reply: this.#reply,
      toolset,
      results,
      usage: this.#usage,
      citations: options.citations ?? new Citations(),
      checkTime: new CheckTime(),
      onToolError: options.onToolError ?? (() => undefined),
    };
    this.#requests = new ModelRequests(options, { toolset, results, addUsage: (usage) => this.#usage.add(usage) });
    this.#format = this.#requests.offersTools ? findAnswerFormat(options.request) : undefined;
  }

  #prepareResults(toolset: Toolset): FullResults {
    const { earlierResults, wrapTool = (tool) => tool } = this.#options;
    const tool = createReadResultTool(
      () => this.#toolContext.results,
      () => this.#conversation,
    );
    return new FullResults(toolset.prepare(wrapTool(tool)), earlierResults);
  }

  /**
   * Runs the loop. If it fails after it added messages, sends the run's state before the error and in the error, so that
   * completed tool calls are not repeated.
   */
  async *run(): AsyncGenerator<Chunk, void> {
    try {
      yield* this.#run();
    } catch (error) {
      if (this.#added.length === 0 || this.#options.signal.aborted) throw error;
      const memory = { pending: [], controls: [], inner: undefined, isBroken: true as const };
      const state = await this.#options.buildState?.({ ...this.#createMemory(), ...memory });
      if (state === undefined) throw error;
      yield this.#reply.createChunk({ custom_content: { state } });
      throw error instanceof ParleyError ? withMembers(error, { custom_content: { state }, ...this.#usage.getTotals() }) : error;
    }
  }

  async *#run(): AsyncGenerator<Chunk, void> {
    const { answeredQuestion, approvedCalls = [] } = this.#options;
    if (approvedCalls.length > 0) yield* this.#runApproved(approvedCalls);
    if (answeredQuestion !== undefined && (yield* this.#resume(answeredQuestion))) return;
    for (let turnNumber = 1 + countTurns(this.#added); ; turnNumber += 1) {
      const turn = yield* this.#sendRequest(turnNumber);
      const calls = turnNumber < this.#options.maxTurns ? listCallsToRun(turn) : [];
      if (calls.length === 0)
        return yield* this.#format === undefined ? this.#finish(turn) : this.#finishFormatted(turn, turnNumber, this.#format);
      yield* this.#showInterimText(turn);
      const clientCalls = calls.filter((call) => this.#clientToolNames.has(call.function.name));
      const heldCalls = calls.filter((call) => this.#needsApproval(call));
      const ownCalls = calls.filter((call) => !clientCalls.includes(call) && !heldCalls.includes(call));
      const { resultMessages, media, questions } = yield* runTools(ownCalls, this.#createToolContext(ownCalls, turnNumber));
      this.#added.push(this.#toMessage(turn), ...resultMessages, ...this.#createMediaMessages(media));
      if (heldCalls.length > 0) return yield* this.#requestApproval(heldCalls, clientCalls);
      if (yield* this.#pause(questions, clientCalls)) return;
      if (turnNumber + 1 === this.#options.maxTurns) appendLastTurnNote(resultMessages);
    }
  }

  /** Returns whether the call waits for the user's approval. */
  #needsApproval({ function: { name } }: ToolCall): boolean {
    return !this.#clientToolNames.has(name) && this.#toolContext.toolset.find(name)?.remote?.needsApproval === true;
  }

  #toMessage(turn: Turn): Message {
    const state = this.#options.shouldReturnState === true ? this.#innerState : undefined;
    return { ...turn.toMessage(), ...(state !== undefined && { custom_content: { state } }) };
  }

  async *#runApproved(approvedCalls: readonly ApprovedCall[]): AsyncGenerator<Chunk, void> {
    yield* this.#start();
    const approvals = new Map(approvedCalls.map(({ id, approvalRequest }) => [id, approvalRequest]));
    const { resultMessages } = yield* runTools(approvedCalls.map(toToolCall), { ...this.#toolContext, approvals });
    this.#messages = insertResults(this.#messages, resultMessages);
  }

  /** Ends the reply with approval requests. The calls run after the user approves them. */
  async *#requestApproval(heldCalls: readonly ToolCall[], clientCalls: readonly ToolCall[]): AsyncGenerator<Chunk, void> {
    const remote = heldCalls.flatMap((call) => {
      const tool = this.#toolContext.toolset.find(call.function.name)?.remote;
      return tool === undefined ? [] : [{ kind: 'held' as const, ...toRemoteCall(call, tool) }];
    });
    yield this.#reply.createChunk({ custom_content: { remote } });
    yield* this.#handOver(clientCalls);
  }

  /** Runs a call again with the user's answer. Returns whether the run stops once more. */
  async *#resume({ questions: [current, ...remaining], value, pending }: AnsweredQuestion): AsyncGenerator<Chunk, boolean> {
    if (current === undefined) return false;
    const { call, question } = current;
    yield* this.#start();
    const userAnswers = new Map([[call.id, { resume: question.resume, value }]]);
    const toolContext = this.#createToolContext([call], 1 + countTurns(this.#added));
    const { resultMessages, media, questions } = yield* runTools([call], { ...toolContext, userAnswers });
    this.#added = sortByCallOrder([...this.#added, ...resultMessages, ...this.#createMediaMessages(media)]);
    if (countTurns(this.#added) + 1 === this.#options.maxTurns) appendLastTurnNote(resultMessages);
    return yield* this.#pause([...questions, ...remaining], pending);
  }

  /** Ends the reply if the user or the client must act first. Returns whether it ended. */
  async *#pause(questions: readonly PendingQuestion[], clientCalls: readonly ToolCall[]): AsyncGenerator<Chunk, boolean> {
    const [first] = questions;
    if (first !== undefined) yield* this.#promptUser(first, questions, clientCalls);
    else if (clientCalls.length > 0) yield* this.#handOver(clientCalls);
    return first !== undefined || clientCalls.length > 0;
  }

  /** Creates the shared options of a turn's tool runs. The results of one turn must fit into the model's context together. */
  #createToolContext(calls: readonly ToolCall[], turnNumber: number): ToolRunContext {
    const maxResultBytes = this.#requests.getMaxResultBytes(turnNumber, this.#conversation, calls.length);
    return maxResultBytes < this.#toolContext.maxResultBytes ? { ...this.#toolContext, maxResultBytes } : this.#toolContext;
  }

  /** Returns the memory for the next request, without pending calls and questions. */
  #createMemory(): Pick<RunMemory, 'added' | 'fullResults' | 'context'> {
    const context = this.#requests.exportMemory([...this.#options.request.messages, ...this.#added]);
    const { ownResults } = this.#toolContext.results;
    return {
      added: this.#added,
      ...(Object.keys(ownResults).length > 0 && { fullResults: ownResults }),
      ...(context !== undefined && { context }),
    };
  }

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
    const renumbering = new Renumbering(this.#reply);
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
        if (visibleDelta !== undefined) yield this.#toChunk(visibleDelta, turn, renumbering);
      }
    }
    this.#options.signal.throwIfAborted();
    const closing = renumbering.closeStages('completed');
    if (closing.length > 0) yield this.#reply.createChunk({ custom_content: { stages: closing } });
    this.#usage.add(usage.items());
    if (this.#format !== undefined) return turn;
    if (turn.text !== '') this.#text += asParagraph(this.#text, turn.text);
    return turn;
  }

  /**
   * Ends a run whose answer must follow a format. If the last turn does not follow it, and a turn is left, the model gets one
   * more request, without tools.
   */
  async *#finishFormatted(draft: Turn, turnNumber: number, format: AnswerFormat): AsyncGenerator<Chunk, void> {
    let turn = draft;
    let answer = parseAnswer(turn.text, format);
    if ('error' in answer && turn.finishReason === 'stop' && turnNumber < this.#options.maxTurns) {
      this.#requests.requestFormat(toFormatMessages(turn.text, answer.error));
      turn = yield* this.#sendRequest(turnNumber + 1);
      answer = parseAnswer(turn.text, format);
    }
    if ('error' in answer && !turn.isIncomplete)
      throw new ParleyError('upstream_failed', `The answer of the model does not follow response_format: ${answer.error}.`);
    this.#text = 'json' in answer ? answer.json : turn.text;
    if (this.#text !== '') yield this.#reply.createChunk({ content: this.#text });
    yield* this.#finish(turn);
  }

  /** Shows the text before tool calls as a stage if the answer must consist of the formatted text only. */
  *#showInterimText({ text }: Turn): Generator<Chunk, void> {
    if (this.#format === undefined || text === '') return;
    yield* this.#reply.createStage('Text before tool calls', text, 'completed');
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

  /** Withholds the text of a run whose answer must follow a format. The answer is sent after it was checked. */
  #filterDelta(delta: Delta): Delta | undefined {
    if (this.#format === undefined || delta.content === undefined) return delta;
    const { content: _content, ...otherFields } = delta;
    return Object.keys(otherFields).length === 0 ? undefined : otherFields;
  }

  #toChunk(delta: Delta, turn: Turn, renumbering: Renumbering): Chunk {
    const custom_content = this.#recordContent(delta.custom_content);
    const isFirstText = turn.text !== '' && turn.text === delta.content;
    const { custom_content: _custom, ...otherFields } = delta;
    return this.#reply.createChunk({
      ...otherFields,
      ...(isFirstText && { content: asParagraph(this.#text, turn.text) }),
      ...(isJsonObject(custom_content) && { custom_content: renumbering.renumberContent(custom_content) }),
    });
  }

  /** Records state and controls of the model's own reply. Returns the content to forward. */
  #recordContent(content: ResponseCustomContent | undefined): ResponseCustomContent | undefined {
    if (!isJsonObject(content)) return content;
    // Drops server deltas of an inner reply, because this run did not call those servers.
    const { remote: _remote, ...visibleContent } = content;
    if (this.#options.buildState === undefined) return visibleContent;
    const { state, ...otherFields } = visibleContent;
    if (isJsonObject(state)) this.#innerState = state;
    for (const control of Array.isArray(otherFields.controls) ? otherFields.controls : []) this.#controls.push(control);
    return otherFields;
  }

  async *#finish(turn: Turn): AsyncGenerator<Chunk, void> {
    if (!this.#hasStarted) yield* this.#start();
    const hasNoAnswer = listCallsToRun(turn).length > 0 && turn.text === '';
    if (hasNoAnswer)
      yield this.#reply.createChunk({
        content: `The run ended after ${this.#options.maxTurns} calls of the model without an answer.`,
      });
    const attachments = this.#reply.numberAttachments(this.#toolContext.citations.collectAttachments(this.#text));
    if (attachments.length > 0) yield this.#reply.createChunk({ custom_content: { attachments } });
    yield* this.#end(this.#reply.createChunk({}, turn.finishReason === 'tool_calls' ? 'stop' : (turn.finishReason ?? 'stop')));
  }

  async *#handOver(calls: readonly ToolCall[]): AsyncGenerator<Chunk, void> {
    const { deltas, finishReason } = toHandover(calls, this.#options.handoverMode ?? 'all tools');
    for (const delta of deltas) yield this.#reply.createChunk(delta);
    yield* this.#end(this.#reply.createChunk({}, finishReason), calls);
  }

  /** Ends the reply with the first question. The state of the reply contains the other questions. */
  async *#promptUser(
    { question }: PendingQuestion,
    questions: readonly PendingQuestion[],
    pending: readonly ToolCall[],
  ): AsyncGenerator<Chunk, void> {
    const controls = toControls(question);
    this.#controls.unshift(...controls);
    yield this.#reply.createChunk({ content: asParagraph(this.#text, question.message) });
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
    const memory = { ...this.#createMemory(), pending, questions, controls: this.#controls, inner: this.#innerState };
    const state = await this.#options.buildState?.(memory);
    if (state !== undefined) yield this.#reply.createChunk({ custom_content: { state } });
    yield last;
    if (this.#usage.items.length === 0) return;
    yield { ...this.#reply.createBareChunk(), ...this.#usage.getTotals() };
  }
}
