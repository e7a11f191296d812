import type { Client, Progress } from '@modelcontextprotocol/client';
import type { McpToolsetSettings } from '#domain/quick-app/quick-app.ts';
import type { ToolContext, ToolQuestion, ToolResult } from '#domain/tools/tool.ts';
import { ActiveCall } from './active-calls.ts';
import type { Connection } from './connection.ts';
import { type Answers, applyAnswer, toQuestion } from './question.ts';
import { createServerError, getServerMessage, toServerError } from './server-error.ts';
import type { Session } from './session.ts';

const maxRounds = 10;

export interface McpCallOptions {
  readonly settings: McpToolsetSettings;
  /** Returns the session of the user that the tool was created for. */
  readonly getSession: () => Session;
  /** Maximum number of milliseconds without an answer or progress from the server. */
  readonly timeoutMs: number;
}

/** A request to a server, and the conversion of its result. */
export interface McpRequest<Result extends object> {
  /** Sends the request. `answers` are the user's answers to the server's earlier questions. */
  readonly send: (client: Client, answers: Answers, options: SendOptions) => Promise<Result>;
  readonly toResult: (result: Result, mask: Connection['mask']) => ToolResult;
}

/** Request options of the SDK. */
interface SendOptions {
  readonly signal: AbortSignal;
  readonly timeout: number;
  readonly resetTimeoutOnProgress: true;
  readonly onprogress: (progress: Progress) => void;
  readonly allowInputRequired: true;
}

/** One tool call on a server. It opens the session if necessary, and repeats the call as often as the server requests. */
export class McpCall<Result extends object> {
  readonly #request: McpRequest<Result>;
  readonly #options: McpCallOptions;
  readonly #context: ToolContext;

  constructor(request: McpRequest<Result>, options: McpCallOptions, context: ToolContext) {
    this.#request = request;
    this.#options = options;
    this.#context = context;
  }

  /** Rejects with `ToolError`, or with the reason of the signal. */
  async run(): Promise<ToolResult> {
    const { settings, getSession } = this.#options;
    const { signal, answer } = this.#context;
    const answers = answer === undefined ? {} : applyAnswer(settings.name, answer);
    if ('label' in answers) return { text: '', attachments: [], failed: false, question: answers };
    try {
      return await getSession().use(signal, (connection) => this.#call(connection, answers));
    } catch (error) {
      signal.throwIfAborted();
      throw toServerError(settings.name, error);
    }
  }

  /** Calls the server repeatedly, because it can request further rounds before it answers. */
  async #call(connection: Connection, answers: Answers): Promise<ToolResult> {
    let currentAnswers = answers;
    for (let round = 1; round <= maxRounds; round += 1) {
      const result = await this.#send(connection, currentAnswers);
      if ('text' in result) return result;
      currentAnswers = result;
    }
    throw createServerError(this.#options.settings.name, `did not come to an answer in ${maxRounds} rounds`);
  }

  /** Returns the result of the call, or the answers for an immediate further round. */
  async #send(connection: Connection, answers: Answers): Promise<ToolResult | Answers> {
    const { client, calls, isStateless, mask } = connection;
    const { settings } = this.#options;
    const call = new ActiveCall(settings.name, answers);
    const sentAnswers = isStateless ? answers : {};
    try {
      const result = await calls.run(call, () =>
        this.#request.send(client, sentAnswers, this.#createSendOptions(connection, call)),
      );
      if (call.question !== undefined) return toQuestionResult(call.question, mask);
      if (!isInputRequired(result)) return this.#request.toResult(result, mask);
      const question = toQuestion(settings.name, result);
      return question === undefined ? { requestState: result.requestState ?? '' } : toQuestionResult(question, mask);
    } catch (error) {
      this.#context.signal.throwIfAborted();
      if (call.question !== undefined) return toQuestionResult(call.question, mask);
      call.endSignal.throwIfAborted();
      const serverMessage = getServerMessage(error);
      if (serverMessage === undefined || connection.hasExpired(error)) throw error;
      return { text: mask(serverMessage), attachments: [], failed: true };
    }
  }

  #createSendOptions({ mask }: Connection, { endSignal }: ActiveCall): SendOptions {
    const { signal, report } = this.#context;
    return {
      signal: AbortSignal.any([signal, endSignal]),
      timeout: this.#options.timeoutMs,
      resetTimeoutOnProgress: true,
      onprogress: createProgressHandler(report, mask),
      allowInputRequired: true,
    };
  }
}

function toQuestionResult(question: ToolQuestion, mask: (text: string) => string): ToolResult {
  return { text: '', attachments: [], failed: false, question: { ...question, message: mask(question.message) } };
}

function isInputRequired(result: object): result is { resultType: 'input_required'; requestState?: string } {
  return (result as { resultType?: unknown }).resultType === 'input_required';
}

const maxReports = 200;
const maxMessageChars = 200;

/** Reports progress to the user. Skips reports that arrive before the previous one was read, and those beyond the maximum. */
function createProgressHandler(report: ToolContext['report'], mask: (text: string) => string): (progress: Progress) => void {
  let isReporting = false;
  let reports = 0;
  return (progress) => {
    if (isReporting || reports === maxReports) return;
    isReporting = true;
    reports += 1;
    const onDone = (): void => {
      isReporting = false;
    };
    report({ content: `${mask(toLine(progress))}\n\n` }).then(onDone, onDone);
  };
}

function toLine({ progress, total, message }: Progress): string {
  const amount = total === undefined ? `${progress}` : `${progress} of ${total}`;
  return message === undefined ? amount : `${amount}: ${message.slice(0, maxMessageChars)}`;
}
