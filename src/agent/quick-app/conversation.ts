import type { JsonObject } from '#base/json/json.ts';
import type { OfferedControl } from '#contract/chat/completed-control.ts';
import { toToolsRequest } from '#contract/chat/function-calling.ts';
import { type CompletedControl, isResultName, type Message } from '#contract/chat/message.ts';
import { ParleyError } from '#contract/errors/errors.ts';
import type { Citation } from '../citations.ts';
import type { ContextMemory } from '../context/message-renderer.ts';
import type { AnsweredQuestion } from '../loop-options.ts';
import { asParagraph } from '../reply.ts';
import type { EarlierResults } from '../results/full-results.ts';
import { type PendingQuestion, parseAnswer } from '../tool-run.ts';
import { sortByCallOrder, type ToolCall } from '../turn.ts';
import type { OffloadedTexts, RunState } from './run-state.ts';

/** A conversation in the form that the model of a quick app receives. */
export interface Conversation {
  /** Messages before the run in progress. */
  readonly messages: readonly Message[];
  /** Messages that the run in progress has added. Empty for a new run. */
  readonly addedMessages: readonly Message[];
  /** Calls to return to the client. The model receives no request until all of them have results. */
  readonly pendingCalls: readonly ToolCall[];
  /** The tool question that this request answers. */
  readonly answeredQuestion: AnsweredQuestion | undefined;
  /** State of the run in progress. */
  readonly state: RunState | undefined;
  /** Controls that the last reply offered. */
  readonly controls: readonly OfferedControl[];
  /** Citations of earlier runs. */
  readonly citations: readonly Citation[];
  /** Memory of the context window. */
  readonly context: ContextMemory | undefined;
  /** Stored results that the model saw only in part. */
  readonly fullResults: readonly EarlierResults[];
  /** Offloaded texts of all states, oldest first. */
  readonly offloadedTexts: readonly OffloadedTexts[];
}

/** Opens a state. Returns undefined if it was changed, or belongs to another user or application. */
export type OpenState = (state: JsonObject) => RunState | undefined;

const noRun = { addedMessages: [], pendingCalls: [], answeredQuestion: undefined, state: undefined };
const notRunText = 'The tool was not run, because the user continued without it.';

/**
 * Replaces replies with the messages that their states contain. Throws `invalid_request` for a state that cannot be opened, and
 * for a result that matches no pending call of an open run.
 */
export function readConversation(messages: readonly Message[], open: OpenState): Conversation {
  const reader = new ConversationReader(open);
  for (const [index, message] of messages.entries()) reader.add(message, `messages[${index}]`);
  return reader.finish();
}

/** A run that waits for its client, or that failed. */
interface OpenRun {
  readonly state: RunState;
  readonly results: Record<string, string>;
  /** The user's answer to the first of its questions. */
  answer: ReturnType<typeof parseAnswer>;
}

class ConversationReader {
  readonly #open: OpenState;
  #messages: Message[] = [];
  #run: OpenRun | undefined;
  #controls: readonly OfferedControl[] = [];
  readonly #citations: Citation[] = [];
  readonly #offloaded: OffloadedTexts[] = [];
  #context: ContextMemory | undefined;
  readonly #fullResults = new Map<string, EarlierResults>();

  constructor(open: OpenState) {
    this.#open = open;
  }

  add(message: Message, path: string): void {
    const { state, ...custom } = message.custom_content ?? {};
    if (message.role === 'assistant') this.#controls = [];
    if (message.role === 'function' && this.#run !== undefined) {
      this.#addFunctionResult(message, this.#run, path);
    } else if (message.role === 'tool' && this.#run !== undefined) {
      this.#addToolResult(message, this.#run, path);
    } else if (message.role === 'user' && this.#addAnswer(custom.completed_control)) {
      return;
    } else if (message.role === 'assistant' && state !== undefined) {
      this.#addReply({ ...message, custom_content: custom }, state, path);
    } else {
      this.#abandonRun();
      this.#messages.push(message);
    }
  }

  finish(): Conversation {
    const openRun = this.#run;
    if (openRun !== undefined && getQuestions(openRun.state).length > 0 && openRun.answer === undefined) this.#abandonRun();
    const run = this.#run;
    const { messages } = toToolsRequest({ messages: this.#messages });
    this.#recordOffloaded(run?.state.beside);
    const memory = {
      controls: this.#controls,
      citations: this.#citations,
      offloadedTexts: this.#offloaded,
      context: this.#context,
      fullResults: [...this.#fullResults.values()],
    };
    const conversation = { messages, ...noRun, ...memory };
    if (run === undefined) return conversation;
    const { answer, state: savedState, results } = run;
    const state = { ...savedState, results };
    if (answer !== undefined) {
      const answeredQuestion = { questions: getQuestions(state), value: answer.value, pending: state.pending };
      return { ...conversation, addedMessages: state.added, answeredQuestion, state };
    }
    const pendingCalls = state.pending.filter(({ id }) => !Object.hasOwn(results, id));
    return { ...conversation, addedMessages: pendingCalls.length > 0 ? state.added : addResults(state), pendingCalls, state };
  }

  #addReply(message: Message, stateInput: JsonObject, path: string): void {
    const state = this.#open(stateInput);
    if (state === undefined) {
      const param = `${path}.custom_content.state`;
      throw new ParleyError(
        'invalid_request',
        `${param} is not a valid state of this application. Send the state of its reply back unchanged.`,
        { param },
      );
    }
    this.#controls = state.controls;
    this.#citations.push(...(state.citations ?? []));
    if (state.context !== undefined) this.#context = state.context;
    // The name is null if the results could not be stored. Their IDs then identify them.
    for (const results of state.kept ?? []) this.#fullResults.set(results.name ?? results.ids.join(), results);
    // The newest state of a run contains the complete run.
    this.#run = undefined;
    if (state.pending.length > 0 || getQuestions(state).length > 0 || state.isBroken) {
      this.#run = { state, results: { ...state.results }, answer: undefined };
      return;
    }
    this.#recordOffloaded(state.beside);
    this.#messages.push(...state.added, ...toFinalMessages(message, state));
  }

  #recordOffloaded(offloaded: OffloadedTexts | undefined): void {
    if (offloaded !== undefined) this.#offloaded.push(offloaded);
  }

  #addToolResult({ tool_call_id: id, content }: Message, { state, results }: OpenRun, path: string): void {
    const call = state.pending.find((pending) => pending.id === id && !Object.hasOwn(results, pending.id));
    if (call === undefined) {
      const param = `${path}.tool_call_id`;
      const openIds = state.pending.filter((pending) => !Object.hasOwn(results, pending.id)).map((pending) => pending.id);
      const expected = openIds.length === 0 ? 'No call is pending' : `Pending calls: ${openIds.join(', ')}`;
      throw new ParleyError('invalid_request', `${param} must be the id of a pending call. ${expected}.`, { param });
    }
    results[call.id] = getText(content);
  }

  #addFunctionResult({ name = '', content }: Message, { state, results }: OpenRun, path: string): void {
    const hasQuestions = getQuestions(state).length > 0;
    const call = hasQuestions ? undefined : state.pending.find(({ id }) => !Object.hasOwn(results, id));
    if (call === undefined || !isResultName(name, call.function.name)) {
      const param = `${path}.name`;
      const expected = call === undefined ? 'No call is pending' : `Pending function: ${call.function.name}`;
      throw new ParleyError('invalid_request', `${param} must be the name of the pending function call. ${expected}.`, { param });
    }
    results[call.id] = getText(content);
  }

  /** Records an answer to a question of the open run. Returns whether the control was such an answer. */
  #addAnswer(completed: CompletedControl | undefined): boolean {
    const [pendingQuestion] = this.#run === undefined ? [] : getQuestions(this.#run.state);
    const answer = pendingQuestion && parseAnswer(pendingQuestion.question, completed);
    if (this.#run === undefined || answer === undefined || this.#run.answer !== undefined) return false;
    this.#run.answer = answer;
    return true;
  }

  /** Closes a run that the request does not continue. Calls without a result get one that explains this. */
  #abandonRun(): void {
    if (this.#run === undefined) return;
    const { state, results } = this.#run;
    this.#recordOffloaded(state.beside);
    this.#messages.push(...addResults({ ...state, results }));
    this.#run = undefined;
  }
}

/** Returns the messages that a run added, with a result for each call. */
function addResults(state: RunState): Message[] {
  const { added, pending, results } = state;
  const openCalls = [...pending, ...getQuestions(state).map(({ call }) => call)];
  const toResult = ({ id }: ToolCall) => ({ role: 'tool' as const, tool_call_id: id, content: results[id] ?? notRunText });
  return sortByCallOrder([...added, ...openCalls.map(toResult)]);
}

function getQuestions({ questions = [] }: RunState): readonly PendingQuestion[] {
  return questions;
}

function getText(content: Message['content']): string {
  return typeof content === 'string' ? content : JSON.stringify(content ?? '');
}

/**
 * Returns the final message of a completed run: its last text, and the state of the model's own reply. Returns an empty list if
 * both are missing.
 */
function toFinalMessages(
  { function_call: _call, custom_content: _custom, ...message }: Message,
  { added, inner }: RunState,
): Message[] {
  const content = typeof message.content === 'string' ? extractLastText(message.content, added) : (message.content ?? '');
  if (inner === undefined) return content === '' ? [] : [{ ...message, content }];
  return [{ ...message, content, custom_content: { state: inner } }];
}

/**
 * Returns the text of the last turn of a reply. The reply contains the text of all turns, and `added` repeats the text of the
 * earlier ones, so the model would read it twice. If the client edited the reply, it is returned as it is.
 */
export function extractLastText(reply: string, added: readonly Message[]): string {
  const texts = added.flatMap(({ role, content }) => (role === 'assistant' && typeof content === 'string' ? [content] : []));
  // A reply that continues an interrupted run contains only the texts of the later turns, so each start is tried.
  for (let first = 0; first < texts.length; first += 1) {
    const before = texts.slice(first).reduce((all, text) => (text === '' ? all : all + asParagraph(all, text)), '');
    if (before === '') break;
    if (!reply.startsWith(before)) continue;
    const newText = reply.slice(before.length);
    const separator = asParagraph(before, '');
    if (newText === '' || newText.startsWith(separator)) return newText.slice(separator.length);
  }
  return reply;
}
