import type { Message } from '#contract/chat/message.ts';
import { faultOf } from '../service/fault.ts';
import type { Service } from '../service/service.ts';
import { askPatiently, type Retry } from './ask-patiently.ts';
import { toSettingFields, withInstructions } from './chat-settings.ts';
import { type Conversation, type Question, type Reply, turnsUpTo, withReply, withTurn } from './conversation.ts';
import type { Library } from './library.ts';
import { type JoinTexts, ReplyFold } from './reply-fold.ts';
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

export interface AnswerOptions {
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
