import type { Chunk, ResponseCustomContent, StageDelta } from '#contract/chat/chunk.ts';
import { ChunkFold } from '#contract/chat/chunk-fold.ts';
import type { Message } from '#contract/chat/message.ts';
import { faultOf, ServiceFault } from '../service/fault.ts';
import type { Service } from '../service/service.ts';
import { askPatiently, type Retry } from './ask-patiently.ts';
import { toSettingFields, withInstructions } from './chat-settings.ts';
import { type Conversation, type Question, type Reply, type StageTime, turnsUpTo, withReply, withTurn } from './conversation.ts';
import type { Library } from './library.ts';
import { toMessages } from './to-messages.ts';

export interface AskingParts {
  readonly library: Library;
  readonly service: Service;
  /** Whether a deployment thinks before it answers. */
  readonly reasons?: (deployment: string) => boolean;
  /** Sent with each question. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Called with each conversation that has one more answer. */
  readonly onAnswered?: (conversationId: string) => void;
  /** Calls back at the next moment that something can be drawn. */
  readonly nextFrame: (act: () => void) => void;
}

type Asked = Pick<Question, 'parent' | 'text' | 'attachments' | 'control' | 'filled'> & {
  /** Who are asked in place of whom the conversation is with; the answers of several stand side by side. */
  readonly deployments?: readonly string[];
};

/** How an answer that was cut short is gone on with (go-on.ts). */
export interface GoingOn {
  readonly cut: Reply;
  /** Asks for the rest. */
  readonly ask: Message;
  readonly join: JoinTexts;
  /** With what both parts took. */
  readonly total: (reply: Reply) => Reply;
}

interface AnswerOptions {
  /** An earlier answer: if it failed and can be gone on with, the new one goes on behind what it has done. */
  readonly behind?: Reply;
  /** Who is asked in place of whom the conversation is with. */
  readonly deployment?: string;
  readonly goingOn?: GoingOn;
}

interface Running {
  readonly conversationId: string;
  readonly questionId: string;
  readonly leaving: AbortController;
}

type Hearer = (conversationId: string, reply: Reply) => void;

/** Asks deployments and brings their answers into the library; any number at once. */
export class Asking {
  readonly #parts: AskingParts;
  readonly #running = new Map<string, Running>();
  /** Ids of questions whose answers stand side by side. */
  readonly #beside = new Set<string>();
  readonly #hearers = new Set<Hearer>();
  /** By id of the reply. */
  readonly #retries = new Map<string, Retry>();
  readonly #retryHearers = new Set<() => void>();

  constructor(parts: AskingParts) {
    this.#parts = parts;
  }

  /** Adds a question to a conversation that is open, and has it answered. */
  async ask(conversationId: string, { deployments = [], ...asked }: Asked): Promise<void> {
    const question: Question = { kind: 'question', id: crypto.randomUUID(), atMs: Date.now(), ...asked };
    if (deployments.length > 1) this.#beside.add(question.id);
    this.#parts.library.change(conversationId, (conversation) => withTurn(conversation, question));
    const whom = deployments.length === 0 ? [{}] : deployments.map((deployment) => ({ deployment }));
    await Promise.all(whom.map((options) => this.answer(conversationId, question.id, options)));
  }

  /** Has a question answered, once more where it was before. */
  async answer(conversationId: string, questionId: string, options: AnswerOptions = {}): Promise<void> {
    const { library, service, headers = {}, reasons = () => false } = this.#parts;
    const conversation = library.find(conversationId);
    if (conversation === undefined) return;
    const { behind, goingOn } = options;
    const start = toStart(conversation, questionId, options);
    const leaving = new AbortController();
    this.#running.set(start.id, { conversationId, questionId, leaving });
    library.put(withTurn(conversation, start), 'now');
    const failed = behind?.state === 'failed' && behind.custom.state !== undefined ? behind : undefined;
    const earlier = failed ?? goingOn?.cut;
    const fold = new ReplyFold(start, earlier, goingOn?.join);
    const soFar = (): Reply => goingOn?.total(fold.reply()) ?? fold.reply();
    const end = (last: Partial<Reply>): void => {
      this.#running.delete(start.id);
      this.#noteRetry(start.id, undefined);
      const reply: Reply = { ...soFar(), endedAtMs: Date.now(), ...last };
      library.change(conversationId, (now) => withReply(now, reply), 'now');
      for (const hear of this.#hearers) hear(conversationId, reply);
    };
    const draw = this.#drawing(() => {
      if (this.#running.has(start.id)) library.change(conversationId, (now) => withReply(now, soFar()));
    });
    try {
      const turns = turnsUpTo(conversation, questionId);
      const settings = conversation.settings ?? {};
      const said = toMessages(earlier === undefined ? turns : [...turns, earlier]);
      const messages = withInstructions(goingOn === undefined ? said : [...said, goingOn.ask], settings);
      const ask = {
        deployment: start.deployment,
        messages,
        headers,
        fields: toSettingFields(settings, { reasons: reasons(start.deployment) }),
      };
      const { signal } = leaving;
      const tell = (retry: Retry | undefined): void => this.#noteRetry(start.id, retry);
      for await (const chunk of askPatiently(service, { ...ask, signal }, tell)) {
        fold.add(chunk, Date.now());
        draw();
      }
      end({ state: 'done' });
      this.#parts.onAnswered?.(conversationId);
    } catch (thrown) {
      end(leaving.signal.aborted ? { state: 'stopped' } : { state: 'failed', fault: faultOf(thrown) });
    }
  }

  /** Calls back with each answer that has ended, however it did, until what is returned is called. */
  hear(hearer: Hearer): () => void {
    this.#hearers.add(hearer);
    return () => this.#hearers.delete(hearer);
  }

  /** What an answer waits for, if it was refused for now. */
  retryOf(replyId: string): Retry | undefined {
    return this.#retries.get(replyId);
  }

  /** Calls back whenever `retryOf` has changed, until what is returned is called. */
  readonly hearRetries = (hearer: () => void): (() => void) => {
    this.#retryHearers.add(hearer);
    return () => this.#retryHearers.delete(hearer);
  };

  #noteRetry(replyId: string, retry: Retry | undefined): void {
    if (retry === undefined) this.#retries.delete(replyId);
    else this.#retries.set(replyId, retry);
    for (const hear of this.#retryHearers) hear();
  }

  /** Whether an answer is under way in this conversation. */
  isAnswering(conversationId: string): boolean {
    return [...this.#running.values()].some((running) => running.conversationId === conversationId);
  }

  /** Whether any answer is under way. */
  isBusy(): boolean {
    return this.#running.size > 0;
  }

  /** Whether several were asked a question at once, and none of them was chosen yet. */
  isBeside(questionId: string): boolean {
    return this.#beside.has(questionId);
  }

  /** One of those who were asked at once was chosen. */
  chooseOne(questionId: string): void {
    this.#beside.delete(questionId);
  }

  /** Stops an answer, and those that come beside it. */
  stop(replyId: string): void {
    const { questionId } = this.#running.get(replyId) ?? {};
    for (const running of this.#running.values()) if (running.questionId === questionId) running.leaving.abort();
  }

  /** Stops all that is under way in a conversation. */
  stopIn(conversationId: string): void {
    for (const running of this.#running.values()) if (running.conversationId === conversationId) running.leaving.abort();
  }

  stopAll(): void {
    for (const { leaving } of this.#running.values()) leaving.abort();
  }

  /** However many chunks come between two frames, they are drawn once. */
  #drawing(act: () => void): () => void {
    let isDue = false;
    return () => {
      if (isDue) return;
      isDue = true;
      this.#parts.nextFrame(() => {
        isDue = false;
        act();
      });
    };
  }
}

function toStart(conversation: Conversation, questionId: string, { deployment, goingOn }: AnswerOptions): Reply {
  const cut = goingOn?.cut;
  return {
    ...{ kind: 'reply', id: crypto.randomUUID(), parent: questionId, atMs: Date.now(), state: 'running' },
    ...{ deployment: deployment ?? cut?.deployment ?? conversation.deployment },
    ...{ text: cut?.text ?? '', custom: cut?.custom ?? {}, stageTimes: cut?.stageTimes ?? {} },
    ...(cut !== undefined && { continues: cut.id }),
  };
}

/** Makes one text of what was said before and what comes behind it; `isOver` once nothing more comes. */
type JoinTexts = (said: string, more: string, isOver: boolean) => string;

/** Folds the chunks of one reply, and notes when its steps began and ended. A reply that goes on behind an earlier one has the parts of both. */
export class ReplyFold {
  readonly #start: Reply;
  readonly #chunks = new ChunkFold((message) => new ServiceFault({ status: 200, code: 'upstream_failed', message }));
  readonly #running = new Set<number>();
  readonly #earlier: Reply | undefined;
  readonly #join: JoinTexts;
  #stageTimes: Readonly<Record<number, StageTime>> = {};

  constructor(start: Reply, earlier?: Reply, join: JoinTexts = inParagraphs) {
    this.#start = start;
    this.#earlier = earlier;
    this.#join = join;
  }

  add(chunk: Chunk, nowMs: number): void {
    this.#chunks.add(chunk);
    for (const { index, delta } of chunk.choices) {
      const stages = index === 0 ? delta?.custom_content?.stages : undefined;
      if (Array.isArray(stages)) for (const stage of stages) this.#note(stage, nowMs);
    }
  }

  /** The reply so far. */
  reply(): Reply {
    const { id, choices, usage, statistics } = this.#chunks.completion();
    const [choice] = choices;
    const { content, custom_content: custom = {}, function_call: call, ...others } = choice?.message ?? { role: 'assistant' };
    const thoughts = thoughtsIn(others);
    const { text: said = '', custom: shown = {}, stageTimes: before = {} } = this.#earlier ?? {};
    const steps = shown.stages?.length ?? 0;
    return {
      ...this.#start,
      text: this.#join(said, content ?? '', choice?.finish_reason != null),
      custom: behind(shown, custom),
      stageTimes: {
        ...before,
        ...Object.fromEntries(Object.entries(this.#stageTimes).map(([at, time]) => later(at, time, steps))),
      },
      ...(id !== '' && { responseId: id }),
      ...(thoughts !== '' && { thoughts }),
      ...(choice?.finish_reason != null && { finish: choice.finish_reason }),
      ...(call !== undefined && { functionCall: call as NonNullable<Reply['functionCall']> }),
      ...(usage != null && { usage }),
      ...(statistics !== undefined && { statistics }),
    };
  }

  #note({ index, status }: StageDelta, nowMs: number): void {
    let time = this.#stageTimes[index];
    if (time === undefined) {
      const [only] = this.#running.size === 1 ? this.#running : [];
      time = { startedAtMs: nowMs, ...(only !== undefined && { within: only }) };
      if (only === undefined) this.#running.add(index);
    }
    if (status != null) {
      time = { ...time, endedAtMs: nowMs };
      this.#running.delete(index);
    }
    this.#stageTimes = { ...this.#stageTimes, [index]: time };
  }
}

function inParagraphs(said: string, more: string): string {
  return [said, more].filter((part) => part !== '').join('\n\n');
}

/** Upstreams name them in two ways. */
function thoughtsIn({ reasoning_content, reasoning }: Readonly<Record<string, unknown>>): string {
  return [reasoning_content, reasoning].find((said): said is string => typeof said === 'string') ?? '';
}

/** Parts that are numbered go on behind those that were there; of anything else the newer counts. */
function behind(before: ResponseCustomContent, custom: ResponseCustomContent): ResponseCustomContent {
  const joined = { ...before, ...custom };
  for (const key of ['stages', 'attachments'] as const) {
    const [first, second] = [before[key] ?? [], custom[key] ?? []];
    const items = [...first, ...second.map((item) => ({ ...item, index: item.index + first.length }))];
    if (items.length > 0) Object.assign(joined, { [key]: items });
  }
  return joined;
}

function later(at: string, time: StageTime, steps: number): [number, StageTime] {
  const { within } = time;
  return [Number(at) + steps, within === undefined ? time : { ...time, within: within + steps }];
}
