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

/**
 * Calls a tool of a server. Opens the session if necessary, and repeats the call as often as the server requests. Rejects with
 * `ToolError`, or with the reason of the signal.
 */
export async function callServer<Result extends object>(
  options: McpCallOptions,
  context: ToolContext,
  request: McpRequest<Result>,
): Promise<ToolResult> {
  const { settings, getSession } = options;
  const { signal, answer } = context;
  const answers = answer === undefined ? {} : applyAnswer(settings.name, answer);
  if ('label' in answers) return { text: '', attachments: [], failed: false, question: answers };
  try {
    return await getSession().use(signal, (connection) => callRepeatedly({ connection, options, context, request }, answers));
  } catch (error) {
    signal.throwIfAborted();
    throw toServerError(settings.name, error);
  }
}

interface ConnectedCall<Result extends object> {
  readonly connection: Connection;
  readonly options: McpCallOptions;
  readonly context: ToolContext;
  readonly request: McpRequest<Result>;
}

/** Calls the server repeatedly, because it can request further rounds before it answers. */
async function callRepeatedly<Result extends object>(connected: ConnectedCall<Result>, answers: Answers): Promise<ToolResult> {
  let currentAnswers = answers;
  for (let round = 1; round <= maxRounds; round += 1) {
    const result = await callOnce(connected, currentAnswers);
    if ('text' in result) return result;
    currentAnswers = result;
  }
  throw createServerError(connected.options.settings.name, `returned no result after ${maxRounds} requests for input`);
}

/** Returns the result of the call, or the answers for an immediate further round. */
async function callOnce<Result extends object>(
  { connection, options: { settings, timeoutMs }, context: { signal, report }, request }: ConnectedCall<Result>,
  answers: Answers,
): Promise<ToolResult | Answers> {
  const { client, calls, isStateless, mask } = connection;
  const call = new ActiveCall(settings.name, answers);
  const sendOptions: SendOptions = {
    signal: AbortSignal.any([signal, call.endSignal]),
    timeout: timeoutMs,
    resetTimeoutOnProgress: true,
    onprogress: createProgressHandler(report, mask),
    allowInputRequired: true,
  };
  try {
    const result = await calls.run(call, () => request.send(client, isStateless ? answers : {}, sendOptions));
    if (call.question !== undefined) return toQuestionResult(call.question, mask);
    if (!isInputRequired(result)) return request.toResult(result, mask);
    const question = toQuestion(settings.name, result);
    return question === undefined ? { requestState: result.requestState ?? '' } : toQuestionResult(question, mask);
  } catch (error) {
    signal.throwIfAborted();
    if (call.question !== undefined) return toQuestionResult(call.question, mask);
    call.endSignal.throwIfAborted();
    const serverMessage = getServerMessage(error);
    if (serverMessage === undefined || connection.hasExpired(error)) throw error;
    return { text: mask(serverMessage), attachments: [], failed: true };
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
