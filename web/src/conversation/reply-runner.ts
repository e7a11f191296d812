import type { Chunk } from '#contract/chat/chunk.ts';
import type { ChatRuns, RunListener } from '../service/chat-runs.ts';
import type { Deployment } from '../service/deployments.ts';
import type { Service } from '../service/service.ts';
import { canceledCode, lostCode, ServiceError, toErrorDetails } from '../service/service-error.ts';
import type { ReplyRequest } from '../service/stream-reply.ts';
import { type ChatContext, type FileLimits, withFiles, withoutRejectedFiles } from './chat-context.ts';
import { toSettingFields, withInstructions } from './chat-settings.ts';
import type { Continuation } from './continuation.ts';
import {
  type Conversation,
  isRunning,
  listTurnsUpTo,
  type Question,
  type Reply,
  type Turn,
  type UsedContext,
  type UserMessage,
  withReply,
  withTurn,
} from './conversation.ts';
import type { Library } from './library.ts';
import type { ReplyFold } from './reply-fold.ts';
import { type Retry, streamReplyWithRetries } from './stream-reply-with-retries.ts';
import { toMessages } from './to-messages.ts';

export interface ReplyRunnerOptions {
  readonly library: Library;
  readonly service: Service;
  /** Returns whether a deployment thinks before it answers, and which files it accepts. Undefined if it is unknown. */
  readonly findDeployment?: (id: string) => (FileLimits & Pick<Deployment, 'canReason'>) | undefined;
  /** Returns the instructions and files of a chat that are not in its settings, for a deployment. Throws `ServiceError`. */
  readonly readContext?: (conversation: Conversation, deployment: string) => Promise<ChatContext>;
  /** Loads the code that lets the service continue answers without this page. Undefined if answers end with the page. */
  readonly loadRuns?: () => Promise<ChatRuns>;
  /** Streams the chunks of a reply. The default requests them from the deployment of the chat. */
  readonly stream?: (request: ReplyRequest) => AsyncGenerator<Chunk>;
  /** Called after each complete answer, with the ID of its chat. */
  readonly onReplyDone?: (conversationId: string) => void;
  /** Calls the callback at the next frame. */
  readonly nextFrame: (callback: () => void) => void;
}

type NewQuestion = UserMessage & Pick<Question, 'parent'>;

interface AnswerOptions {
  /** An earlier answer. If it failed and can be continued, the new one continues after its completed work. */
  readonly previous?: Reply;
  /** Deployment in place of the deployment of the chat. */
  readonly deployment?: string;
  readonly continuation?: Continuation;
  /** Whether the request omits the older half of the messages, because the chat is too long for the model. */
  readonly isShortened?: boolean;
}

interface RunningReply extends RunListener {
  readonly conversationId: string;
  readonly questionId: string;
  readonly controller: AbortController;
  /** Whether this page started it and receives all of it. */
  isOwn: boolean;
  /** Whether this page stopped receiving it while it continues. */
  isDetached: boolean;
  /** Duration that the service reported. */
  durationMs?: number;
}

/** An answer that this page receives. */
interface IncomingReply {
  readonly running: RunningReply;
  /** The answer before its first chunk. */
  readonly reply: Reply;
  /** Facts about the request, complete when it is sent. */
  readonly requestFacts?: Pick<Reply, 'usedContext'>;
  /** Earlier answer that this one continues. */
  readonly earlier?: Reply | undefined;
  readonly continuation?: Continuation | undefined;
}

/** Maximum age of an answer whose request may not have reached the service yet. */
const startGraceMs = 60_000;

type ReplyListener = (conversationId: string, reply: Reply) => void;

/** Requests answers from deployments and writes them to the library, any number concurrently. */
export class ReplyRunner {
  readonly #options: ReplyRunnerOptions;
  readonly #running = new Map<string, RunningReply>();
  /** IDs of questions whose answers are shown side by side. */
  readonly #sideBySide = new Set<string>();
  readonly #replyListeners = new Set<ReplyListener>();
  /** By ID of the reply. */
  readonly #retries = new Map<string, Retry>();
  readonly #retryListeners = new Set<() => void>();
  /** IDs of answers whose connection is being restored. */
  readonly #reconnecting = new Set<string>();

  constructor(options: ReplyRunnerOptions) {
    this.#options = options;
  }

  /** Adds a question to an open chat and requests an answer. */
  async sendQuestion(conversationId: string, { deployments = [], ...input }: NewQuestion): Promise<void> {
    const question: Question = { kind: 'question', id: crypto.randomUUID(), atMs: Date.now(), ...input };
    if (deployments.length > 1) this.#sideBySide.add(question.id);
    this.#options.library.change(conversationId, (conversation) => withTurn(conversation, question));
    const targets = deployments.length === 0 ? [{}] : deployments.map((deployment) => ({ deployment }));
    await Promise.all(targets.map((options) => this.answer(conversationId, question.id, options)));
  }

  /** Requests an answer to a question, or another version of it. */
  async answer(conversationId: string, questionId: string, options: AnswerOptions = {}): Promise<void> {
    const { library, loadRuns, readContext, findDeployment } = this.#options;
    const conversation = library.find(conversationId);
    if (conversation === undefined) return;
    const { previous, continuation, isShortened = false } = options;
    const turns = listTurnsUpTo(conversation, questionId);
    const omittedMessages = countOmitted(turns, isShortened);
    const failedReply = previous?.state === 'failed' && previous.custom.state !== undefined ? previous : undefined;
    const earlier = failedReply ?? continuation?.truncated;
    const newReply = createReply(conversation, questionId, options);
    const target = findDeployment?.(newReply.deployment);
    const { messages: history, omittedFiles } = withoutRejectedFiles(
      toMessages(earlier === undefined ? turns : [...turns, earlier]).slice(omittedMessages),
      target,
    );
    const requestFacts: { usedContext?: UsedContext } = {};
    const buildRequest = async (): Promise<Omit<ReplyRequest, 'signal'>> => {
      const settings = conversation.settings ?? {};
      const context = await readContext?.(conversation, newReply.deployment);
      if (context?.used !== undefined) {
        requestFacts.usedContext = context.used;
        // A page that resumes the answer reads `usedContext` from the stored chat.
        library.change(conversationId, (current) => withReply(current, { ...reply, ...requestFacts }), 'now');
      }
      const turnMessages = continuation === undefined ? history : [...history, continuation.prompt];
      const messages = withInstructions(withFiles(turnMessages, context?.files ?? [], target), [
        ...(context?.instructions ?? []),
        settings.instructions ?? '',
      ]);
      const fields = toSettingFields(settings, { canReason: target?.canReason === true });
      return { deployment: newReply.deployment, messages, fields };
    };
    const reply: Reply = {
      ...newReply,
      ...(omittedMessages > 0 && { omittedMessages }),
      ...(omittedFiles.length > 0 && { omittedFiles }),
      ...(failedReply !== undefined && { resumes: failedReply.id }),
      ...(loadRuns !== undefined && { isRun: true }),
    };
    const running = this.#register(conversationId, reply, true);
    library.change(conversationId, (current) => withTurn(current, reply), 'now');
    const chunks = this.#request(reply.id, buildRequest, running);
    await this.#receive({ running, reply, requestFacts, earlier, continuation }, chunks);
  }

  /** Requests an answer and streams its chunks. */
  async *#request(
    replyId: string,
    buildRequest: () => Promise<Omit<ReplyRequest, 'signal'>>,
    running: RunningReply,
  ): AsyncGenerator<Chunk> {
    const { service, loadRuns, stream: streamChunks } = this.#options;
    const { signal } = running.controller;
    const request: ReplyRequest = { ...(await buildRequest()), signal };
    const onRetry = (retry: Retry | undefined): void => this.#setRetry(replyId, retry);
    const stream = async function* (): AsyncGenerator<Chunk> {
      if (loadRuns !== undefined) return yield* (await loadCode(loadRuns)).start(replyId, request, running);
      if (streamChunks !== undefined) return yield* streamChunks(request);
      const { streamReply } = await loadCode(() => import('../service/stream-reply.ts'));
      yield* streamReply(service, request);
    };
    yield* streamReplyWithRetries(stream, signal, onRetry);
  }

  /** Follows an answer that the service continues, such as after a reload or in another tab. */
  resume(conversationId: string, reply: Reply): void {
    const { loadRuns } = this.#options;
    if (loadRuns === undefined || this.#running.has(reply.id)) return;
    const running = this.#register(conversationId, reply, false);
    // Another page may still be sending the request.
    const isNew = Date.now() - reply.atMs < startGraceMs;
    const follow = async function* (): AsyncGenerator<Chunk> {
      yield* (await loadCode(loadRuns)).follow(reply.id, { ...running, signal: running.controller.signal }, isNew);
    };
    const chunks = follow();
    void this.#findEarlier(conversationId, reply).then((earlier) => this.#receive({ running, reply, ...earlier }, chunks));
  }

  /** Whether this page started an answer that is in progress. */
  hasStarted(replyId: string): boolean {
    return this.#running.get(replyId)?.isOwn === true;
  }

  /** Stops following an answer that another page started. */
  stopFollowing(replyId: string): void {
    const running = this.#running.get(replyId);
    if (running !== undefined && !running.isOwn) detach(running);
  }

  /** Returns the earlier answer that an answer in progress continues. */
  async #findEarlier(conversationId: string, reply: Reply): Promise<Pick<IncomingReply, 'earlier' | 'continuation'>> {
    const { continues, resumes } = reply;
    const turns = this.#options.library.find(conversationId)?.turns ?? {};
    const earlier = turns[continues ?? resumes ?? ''];
    if (earlier?.kind !== 'reply') return {};
    if (continues === undefined) return { earlier };
    return import('./continuation.ts').then(
      ({ toContinuation }) => ({ earlier, continuation: toContinuation(earlier) }),
      () => ({ earlier }),
    );
  }

  #register(conversationId: string, { id, parent: questionId }: Reply, isOwn: boolean): RunningReply {
    const running: RunningReply = {
      ...{ conversationId, questionId, controller: new AbortController(), isOwn, isDetached: false },
      onReconnecting: (isReconnecting) => this.#setReconnecting(id, isReconnecting),
      onDuration: (durationMs) => Object.assign(running, { durationMs }),
    };
    this.#running.set(id, running);
    return running;
  }

  /** Writes the chunks of an answer to its chat until it ends. */
  async #receive(incoming: IncomingReply, chunks: AsyncGenerator<Chunk>): Promise<void> {
    const { running, reply, requestFacts, earlier, continuation } = incoming;
    const { library, onReplyDone } = this.#options;
    const { conversationId, controller } = running;
    const { isRun, ...start } = reply;
    let fold: ReplyFold | undefined;
    const toCurrentReply = (): Reply => {
      const current = { ...(fold?.getReply() ?? start), ...requestFacts };
      return continuation?.withTotals(current) ?? current;
    };
    const forget = (): void => {
      this.#running.delete(start.id);
      this.#setReconnecting(start.id, false);
      this.#setRetry(start.id, undefined);
    };
    const end = (last: Partial<Reply>): void => {
      forget();
      const { durationMs } = running;
      // A page that did not receive the start of the answer knows its end only if the user stopped it.
      const measuredAtMs = running.isOwn || controller.signal.aborted ? Date.now() : undefined;
      const endedAtMs = durationMs === undefined ? measuredAtMs : start.atMs + durationMs;
      const turn = library.find(conversationId)?.turns[start.id];
      // The page that started the answer knows the times of its steps.
      const times = !running.isOwn && turn?.kind === 'reply' && turn.state !== 'running' && { stageTimes: turn.stageTimes };
      const ended: Reply = { ...toCurrentReply(), ...(endedAtMs !== undefined && { endedAtMs }), ...times, ...last };
      library.change(conversationId, (conversation) => withReply(conversation, ended), 'now');
      for (const listener of this.#replyListeners) listener(conversationId, ended);
      if (isRun === true) void this.#removeRun(conversationId, start.id);
    };
    const scheduleUpdate = this.#createScheduler(() => {
      if (!this.#running.has(start.id)) return;
      const current = isRun === true ? { ...toCurrentReply(), isRun } : toCurrentReply();
      // Other tabs follow a run themselves, so only its end is saved.
      library.change(conversationId, (conversation) => withReply(conversation, current), isRun === true ? 'unsaved' : 'soon');
    });
    try {
      const loaded = await loadCode(() => import('./reply-fold.ts'));
      fold = new loaded.ReplyFold(start, earlier, continuation?.join);
      for await (const chunk of chunks) {
        // A page that resumes an answer receives its earlier steps together, so it does not know their durations.
        fold.add(chunk, running.isOwn ? Date.now() : start.atMs);
        scheduleUpdate();
      }
      end({ state: 'done' });
      // After a reload, no page owns the answer, so the visible page reports it.
      if (running.isOwn || !document.hidden) onReplyDone?.(conversationId);
    } catch (error) {
      const details = toErrorDetails(error);
      if (running.isDetached) forget();
      else if (controller.signal.aborted || details.code === canceledCode) end({ state: 'stopped' });
      else if (details.code === lostCode) {
        // Another device may have stored the answer and deleted the run.
        running.isOwn = false;
        await library.refetch(conversationId);
        forget();
        this.#endLost(conversationId, toCurrentReply());
      } else end({ state: 'failed', fault: details });
    }
  }

  /** Marks an answer as lost unless another device has stored it. */
  #endLost(conversationId: string, reply: Reply): void {
    const { library } = this.#options;
    const storedTurn = library.find(conversationId)?.turns[reply.id];
    if (storedTurn === undefined || !isRunning(storedTurn)) return;
    const lostReply: Reply = { ...reply, state: 'interrupted', isLost: true };
    // An offline device that has the answer may still upload it, so this state is not saved.
    library.change(conversationId, (conversation) => withReply(conversation, lostReply), 'unsaved');
    for (const listener of this.#replyListeners) listener(conversationId, lostReply);
  }

  /** Deletes the run of an answer after its chat is stored. If that fails, the run expires later. */
  async #removeRun(conversationId: string, replyId: string): Promise<void> {
    const { library, loadRuns } = this.#options;
    await Promise.all([loadRuns?.(), library.sync(conversationId)]).then(
      ([runs]) => runs?.remove(replyId),
      () => undefined,
    );
  }

  /** Calls the listener with each answer that ended, for any reason. Returns a function that unsubscribes. */
  subscribe(listener: ReplyListener): () => void {
    this.#replyListeners.add(listener);
    return () => this.#replyListeners.delete(listener);
  }

  /** Returns the pending retry of an answer, if any. */
  getRetry(replyId: string): Retry | undefined {
    return this.#retries.get(replyId);
  }

  /** Whether the connection of an answer in progress is lost and is being restored. */
  isReconnecting(replyId: string): boolean {
    return this.#reconnecting.has(replyId);
  }

  /** Calls the listener on each change of `getRetry` and `isReconnecting`. Returns a function that unsubscribes. */
  readonly subscribeToRetries = (listener: () => void): (() => void) => {
    this.#retryListeners.add(listener);
    return () => this.#retryListeners.delete(listener);
  };

  #setRetry(replyId: string, retry: Retry | undefined): void {
    if (retry === undefined) this.#retries.delete(replyId);
    else this.#retries.set(replyId, retry);
    for (const listener of this.#retryListeners) listener();
  }

  #setReconnecting(replyId: string, isReconnecting: boolean): void {
    if (this.#reconnecting.has(replyId) === isReconnecting) return;
    if (isReconnecting) this.#reconnecting.add(replyId);
    else this.#reconnecting.delete(replyId);
    for (const listener of this.#retryListeners) listener();
  }

  isAnswering(conversationId: string): boolean {
    return [...this.#running.values()].some((running) => running.conversationId === conversationId);
  }

  isBusy(): boolean {
    return this.#running.size > 0;
  }

  /** Whether a question was sent to several deployments and no answer was chosen yet. */
  isSideBySide(questionId: string): boolean {
    return this.#sideBySide.has(questionId);
  }

  /** Records that one of the answers was chosen, so that they are no longer side by side. */
  endSideBySide(questionId: string): void {
    this.#sideBySide.delete(questionId);
  }

  /** Stops an answer and those that are shown side by side with it. */
  stop(replyId: string): void {
    const { questionId } = this.#running.get(replyId) ?? {};
    this.#stopIf((running) => running.questionId === questionId);
  }

  stopIn(conversationId: string): void {
    this.#stopIf((running) => running.conversationId === conversationId);
  }

  stopAll(): void {
    this.#stopIf(() => true);
  }

  /** Stops receiving answers. Those that the service continues stay in progress. */
  close(): void {
    for (const running of this.#running.values()) {
      if (this.#options.loadRuns === undefined) running.controller.abort();
      else detach(running);
    }
  }

  #stopIf(shouldStop: (running: RunningReply) => boolean): void {
    for (const [replyId, running] of this.#running) {
      if (!shouldStop(running)) continue;
      running.controller.abort();
      void this.#options
        .loadRuns?.()
        .then((runs) => runs.cancel(replyId))
        .catch(() => undefined);
    }
  }

  /** Returns a function that calls `act` at most once per frame. */
  #createScheduler(act: () => void): () => void {
    let isDue = false;
    return () => {
      if (isDue) return;
      isDue = true;
      this.#options.nextFrame(() => {
        isDue = false;
        act();
      });
    };
  }
}

/** Loads code that the page needs only for answers. Throws `ServiceError`. */
function loadCode<Code>(load: () => Promise<Code>): Promise<Code> {
  return load().catch((error: unknown) => {
    throw new ServiceError({ status: 0, code: 'connection_lost', message: '' }, error);
  });
}

function detach(running: RunningReply): void {
  running.isDetached = true;
  running.controller.abort();
}

/**
 * * Counts the oldest messages that a request omits: those that an earlier request of the chat omitted, and, if the request is
 * shortened, half of the rest.
 */
function countOmitted(turns: readonly Turn[], isShortened: boolean): number {
  const before = Math.max(0, ...turns.map((turn) => (turn.kind === 'reply' ? (turn.omittedMessages ?? 0) : 0)));
  if (!isShortened) return before;
  const messages = toMessages(turns);
  const half = before + Math.ceil((messages.length - 1 - before) / 2);
  const next = messages.findIndex(({ role }, index) => index >= half && role === 'user');
  return next === -1 ? before : next;
}

function createReply(conversation: Conversation, questionId: string, { deployment, continuation }: AnswerOptions): Reply {
  const truncated = continuation?.truncated;
  return {
    ...{ kind: 'reply', id: crypto.randomUUID(), parent: questionId, atMs: Date.now(), state: 'running' },
    ...{ deployment: deployment ?? truncated?.deployment ?? conversation.deployment },
    ...{ text: truncated?.text ?? '', custom: truncated?.custom ?? {}, stageTimes: truncated?.stageTimes ?? {} },
    ...(truncated !== undefined && { continues: truncated.id }),
  };
}
