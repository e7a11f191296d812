import { AsyncLocalStorage } from 'node:async_hooks';
import type { ElicitRequest, ElicitResult, InputRequiredResult } from '@modelcontextprotocol/client';
import { isJsonObject, type JsonObject, toObject } from '#base/json/json.ts';
import { raceAbort } from '#base/stream/race-abort.ts';
import { truncate } from '#base/text/truncate.ts';
import type { ToolAnswer, ToolQuestion } from '#domain/tools/tool.ts';
import { computeHash } from './server-caches.ts';
import { createServerError } from './server-error.ts';
import { toMaskedParameters } from './to-parameters.ts';

const maxMessageChars = 2000;
const maxStateChars = 64 * 1024;
const maxQuestions = 10;

/** A server that asks its client questions. */
interface AskingServer {
  readonly name: string;
  /** Masks the credentials in a text of the server. */
  readonly mask: (text: string) => string;
}

/** The open questions and the answers of one call. The answers are sent when the call is repeated. */
interface ResumeState extends JsonObject {
  readonly state: string | undefined;
  readonly open: readonly OpenQuestion[];
  readonly answers: Readonly<Record<string, unknown>>;
}

interface OpenQuestion {
  readonly key: string;
  readonly message: string;
  readonly schema: JsonObject;
}

/** Fields for a repeated call. */
export interface Answers {
  readonly inputResponses?: Readonly<Record<string, unknown>>;
  readonly requestState?: string;
}

/**
 * Returns the server's question for the user, or undefined if the server only requests another round. Throws `ToolError` for an
 * unsupported question.
 */
export function toQuestion(
  server: AskingServer,
  { inputRequests = {}, requestState }: InputRequiredResult,
): ToolQuestion | undefined {
  if ((requestState?.length ?? 0) > maxStateChars)
    throw createServerError(server.name, `sends a requestState of more than ${maxStateChars} characters`);
  const open = Object.entries(inputRequests).map(([key, request]) => toOpenQuestion(server, key, request));
  if (open.length > maxQuestions) throw createServerError(server.name, `asks more than ${maxQuestions} questions in one result`);
  return findNextQuestion(server.name, { state: requestState, open, answers: {} });
}

/**
 * Returns the question that a server asked during a call, after the answers to the earlier ones. Throws `ToolError` for an
 * unsupported question, or too many.
 */
function toQuestionInCall(server: AskingServer, key: string, request: JsonObject, answers: ResumeState['answers']): ToolQuestion {
  if (Object.keys(answers).length >= maxQuestions)
    throw createServerError(server.name, `asks more than ${maxQuestions} questions in one call`);
  const open = toOpenQuestion(server, key, request);
  return createQuestion(server.name, open, { state: undefined, open: [open], answers });
}

/** Applies the user's answer. Returns the next question of the same call, or the fields for repeating it. */
export function applyAnswer(server: string, { resume, value }: ToolAnswer): ToolQuestion | Answers {
  const { state, open, answers } = resume as ResumeState;
  const [answeredQuestion, ...laterQuestions] = open;
  const allAnswers =
    answeredQuestion === undefined ? answers : { ...answers, [answeredQuestion.key]: toElicitResult(answeredQuestion, value) };
  return (
    findNextQuestion(server, { state, open: laterQuestions, answers: allAnswers }) ?? {
      inputResponses: allAnswers,
      ...(state !== undefined && { requestState: state }),
    }
  );
}

/** Values that the user omitted get the server's defaults. */
function toElicitResult({ schema }: OpenQuestion, value: JsonObject | undefined): JsonObject {
  if (value === undefined) return { action: 'decline' };
  const properties = Object.entries(toObject(schema.properties));
  const defaults = properties.flatMap(([name, property]) =>
    isJsonObject(property) && property.default !== undefined ? [[name, property.default] as const] : [],
  );
  return { action: 'accept', content: { ...Object.fromEntries(defaults), ...value } };
}

function findNextQuestion(server: string, resume: ResumeState): ToolQuestion | undefined {
  const [next] = resume.open;
  return next && createQuestion(server, next, resume);
}

function createQuestion(server: string, { message, schema }: OpenQuestion, resume: ResumeState): ToolQuestion {
  return { label: `Answer ${server}`, message: `**${server}** asks: ${message}`, schema, resume };
}

function toOpenQuestion({ name, mask }: AskingServer, key: string, request: unknown): OpenQuestion {
  const { method, params } = toObject(request);
  const { mode = 'form', message, requestedSchema } = toObject(params);
  if (method !== 'elicitation/create' || mode !== 'form')
    throw createServerError(name, `asks its client for data that Parley cannot give (${mask(String(method)).slice(0, 80)})`);
  return { key, message: truncate(mask(String(message)), maxMessageChars), schema: toMaskedParameters(requestedSchema, mask) };
}

const cancelResult: ElicitResult = { action: 'cancel' };

/**
 * The running tool calls of one connection. In the 2025 revisions of MCP, a server can ask a question during a call. A user may
 * take days to answer. Therefore the question ends the call. After the answer, the call is repeated, and the same question is
 * answered immediately.
 */
export class ActiveCalls {
  /** The call whose request opened the current stream. */
  readonly #currentCall = new AsyncLocalStorage<ActiveCall>();
  readonly #running = new Map<ActiveCall, Promise<void>>();
  #isWaiting = false;

  /** Runs `work` as part of a call. Questions on the streams of its requests are attributed to the call. */
  async run<Value>(call: ActiveCall, work: () => Promise<Value>): Promise<Value> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#running.set(call, promise);
    try {
      return await this.#currentCall.run(call, work);
    } finally {
      this.#running.delete(call);
      resolve();
    }
  }

  /** Answers a question of the server. `signal` aborts if the server no longer waits for the answer. */
  async answer(params: ElicitRequest['params'], signal: AbortSignal): Promise<ElicitResult> {
    const call = this.#currentCall.getStore() ?? (await this.#waitForLast(signal));
    return call?.answer(params) ?? cancelResult;
  }

  /**
   * Waits until only one call is left. If calls share a stream, only then is it certain which call a question belongs to. A
   * second question in the meantime is answered with `cancel`.
   */
  async #waitForLast(signal: AbortSignal): Promise<ActiveCall | undefined> {
    if (this.#isWaiting) return undefined;
    this.#isWaiting = true;
    try {
      const calls = [...this.#running.keys()];
      for (;;) {
        const remaining = calls.filter((call) => this.#running.has(call));
        if (remaining.length <= 1) return remaining[0];
        await raceAbort(Promise.race(remaining.map((call) => this.#running.get(call))), signal);
      }
    } finally {
      this.#isWaiting = false;
    }
  }
}

/** One call, with the user's answers to the questions of its earlier attempts. */
export class ActiveCall {
  readonly #server: AskingServer;
  readonly #responses: NonNullable<Answers['inputResponses']>;
  readonly #interruption = new AbortController();
  #questionCount = 0;
  #question: ToolQuestion | undefined;

  constructor(server: AskingServer, { inputResponses = {} }: Answers) {
    this.#server = server;
    this.#responses = inputResponses;
  }

  /** The question to ask the user before the call can be repeated. */
  get question(): ToolQuestion | undefined {
    return this.#question;
  }

  /** Aborted when there is a question, or with a `ToolError` if the question is not supported. */
  get endSignal(): AbortSignal {
    return this.#interruption.signal;
  }

  answer(params: ElicitRequest['params']): ElicitResult {
    if (this.endSignal.aborted) return cancelResult;
    // Answers match by position and wording. A question with other words is a new question for the user.
    const key = `${this.#questionCount} ${computeHash([params])}`;
    this.#questionCount += 1;
    const response = Object.hasOwn(this.#responses, key) ? this.#responses[key] : undefined;
    if (response !== undefined) return response as ElicitResult;
    this.#setQuestion(key, params);
    return cancelResult;
  }

  #setQuestion(key: string, params: ElicitRequest['params']): void {
    const request = { method: 'elicitation/create', params };
    try {
      this.#question = toQuestionInCall(this.#server, key, request, this.#responses);
      this.#interruption.abort();
    } catch (error) {
      this.#interruption.abort(error);
    }
  }
}
