import { filterObjects, isJsonObject, type JsonObject, toObject, toText } from '#base/json/json.ts';
import type { ChatRequest } from '#contract/chat/chat-request.ts';
import {
  type Attachment,
  type CompletedControl,
  getToolCalls,
  isInstruction,
  isResult,
  type Message,
} from '#contract/chat/message.ts';
import { citationInstruction } from '#domain/tools/tool.ts';
import { shorten } from './words.ts';

/** Text that an answer can quote. */
export interface Passage {
  readonly source: string;
  readonly text: string;
}

export interface ToolResult {
  readonly name: string;
  readonly text: string;
}

/** The parts of a conversation that the demo understands. */
export interface Conversation {
  /** Last question of the user. Empty if the user did not ask a question. */
  readonly question: string;
  /** The tool results at the end of the conversation. */
  readonly toolResults: readonly ToolResult[];
  /** Latest first. */
  readonly passages: readonly Passage[];
  /** Passages that were attached to the question itself. */
  readonly attachedPassages: readonly Passage[];
  readonly completedControl: CompletedControl | undefined;
  readonly attachments: readonly Attachment[];
}

type ToolNames = ReadonlyMap<unknown, unknown>;

const maxPassageChars = 60_000;
const minQuotableInstructionChars = 600;
const readableType = /^text\/|json|xml|yaml|csv/i;

export function readConversation({ messages }: ChatRequest): Conversation {
  const names = mapToolNames(messages);
  const lastUser = messages.findLast(({ role }) => role === 'user');
  return {
    question: lastUser === undefined ? '' : splitQuestion(getText(lastUser)).question,
    toolResults: listFinalResults(messages, names),
    passages: listAllPassages(messages, names),
    attachedPassages: lastUser === undefined ? [] : listAttachedPassages(lastUser),
    completedControl: messages.at(-1)?.custom_content?.completed_control,
    attachments: messages.flatMap(listAttachments),
  };
}

export function getText({ content }: Message): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content.map((part) => (typeof part?.text === 'string' ? part.text : '')).join('\n');
}

function listFinalResults(messages: readonly Message[], names: ToolNames): ToolResult[] {
  const lastOtherIndex = messages.findLastIndex((message) => !isResult(message));
  return messages
    .slice(lastOtherIndex + 1)
    .map((message) => ({ name: getToolName(message, names), text: getResultText(message) }));
}

function listAllPassages(messages: readonly Message[], names: ToolNames): Passage[] {
  const passages: Passage[] = [];
  let remainingChars = maxPassageChars;
  for (const message of messages.toReversed()) {
    for (const { source, text } of listPassages(message, names)) {
      if (remainingChars <= 0) return passages;
      passages.push({ source: shorten(source, 100), text: text.slice(0, remainingChars) });
      remainingChars -= text.length;
    }
  }
  return passages;
}

function listPassages(message: Message, names: ToolNames): Passage[] {
  if (isResult(message)) return [{ source: getToolName(message, names), text: getResultText(message) }];
  if (isInstruction(message)) {
    const text = getText(message);
    return text.length > minQuotableInstructionChars ? [{ source: 'the instructions', text }] : [];
  }
  if (message.role !== 'user') return [];
  const quoted = splitQuestion(getText(message)).quoted.map((text) => ({ source: 'the message', text }));
  return [...listAttachedPassages(message), ...quoted];
}

function listAttachedPassages(message: Message): Passage[] {
  return listAttachments(message)
    .filter(({ data, type }) => typeof data === 'string' && (typeof type !== 'string' || readableType.test(type)))
    .map(({ data, title }) => ({ source: title || 'an attachment', text: data ?? '' }));
}

function listAttachments(message: Message): Attachment[] {
  const { attachments } = message.custom_content ?? {};
  return message.role === 'user' ? filterObjects(attachments) : [];
}

/** Returns the result of a tool without its instructions for a model. */
function getResultText(message: Message): string {
  const [text = ''] = getText(message).split(citationInstruction, 1);
  return text;
}

/** Returns the names of the called tools, by call ID. */
function mapToolNames(messages: readonly Message[]): ToolNames {
  const calls = messages.flatMap(getToolCalls);
  return new Map(
    calls.map(({ id, function: calledFunction }) => [id, isJsonObject(calledFunction) ? calledFunction.name : undefined]),
  );
}

/** A `function` message names its function. A `tool` message names the ID of its call. */
function getToolName(message: Message, names: ToolNames): string {
  const name = message.name ?? names.get(message.tool_call_id);
  return typeof name === 'string' ? name : 'the tool';
}

/** A message, split into the question and the quoted text. */
interface SplitQuestion {
  readonly question: string;
  readonly quoted: readonly string[];
}

const maxReadChars = 60_000;
const maxTailChars = 2000;
const maxQuestionChars = 600;
// Pattern bound: linear. Only the last fence can lack its closing fence.
const fencePattern = /"""([\s\S]*?)"""|```([\s\S]*?)```/g;

/**
 * Splits a message. Fenced text (""" or ```) and lines that begin with > are quoted text. If the remaining text is too long for a
 * question, the question is the last line with a question mark, or the last line if no line has one. The rest is quoted text too.
 */
function splitQuestion(message: string): SplitQuestion {
  const text =
    message.length <= maxReadChars
      ? message
      : `${message.slice(0, maxReadChars - maxTailChars)}\n${message.slice(-maxTailChars)}`;
  const lines = text
    .replaceAll(fencePattern, '\n')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  const ownLines = lines.filter((line) => !line.startsWith('>'));
  const quotedLines = lines.filter((line) => line.startsWith('>')).map((line) => line.replace(/^[>\s]+/, ''));
  const quoted = [...text.matchAll(fencePattern)].map((match) => match[1] ?? match[2] ?? '');
  quoted.push(quotedLines.join('\n'));
  let question = ownLines.join('\n');
  if (question.length > maxQuestionChars) {
    const last = ownLines.findLast((line) => line.endsWith('?') && line.length <= maxQuestionChars) ?? ownLines.at(-1) ?? '';
    quoted.push(ownLines.length === 1 ? last : ownLines.filter((line) => line !== last).join('\n'));
    question = getLastSentence(last);
  }
  return { question, quoted: quoted.filter((part) => part.trim() !== '') };
}

/** Returns the question at the end of a line that is too long for a question. */
function getLastSentence(line: string): string {
  if (line.length <= maxQuestionChars) return line;
  const tail = line.slice(-maxQuestionChars);
  // Pattern bound: the end of a line, at most 600 characters.
  return (tail.match(/[^.!?]+[.!?]*$/)?.[0] ?? tail).trim();
}

export interface OfferedTool {
  readonly name: string;
  readonly description: string;
  /** A JSON Schema. */
  readonly parameters: JsonObject;
}

/** The tools of a request and its settings for their use. */
export interface ToolOffer {
  readonly tools: readonly OfferedTool[];
  /** An object names the tool that must be called. */
  readonly choice: 'none' | 'auto' | 'required' | { readonly name: string };
  /** `functions` is the older form, with one call in each reply. */
  readonly form: 'tools' | 'functions';
  /** Whether one reply may have several calls. */
  readonly isParallel: boolean;
}

const maxTools = 128;

export function readTools(request: ChatRequest): ToolOffer {
  const { tools, functions } = request;
  const isLegacy = !Array.isArray(tools) && Array.isArray(functions);
  const toolInputs: unknown[] = isLegacy ? functions : Array.isArray(tools) ? tools.map((tool) => tool?.function) : [];
  return {
    tools: toolInputs.slice(0, maxTools).flatMap(toTool),
    choice: toChoice(isLegacy ? request.function_call : request.tool_choice),
    form: isLegacy ? 'functions' : 'tools',
    isParallel: !isLegacy && request.parallel_tool_calls !== false,
  };
}

function toTool(input: unknown): OfferedTool[] {
  if (!isJsonObject(input) || typeof input.name !== 'string') return [];
  const { name, description, parameters } = input;
  return [{ name, description: toText(description), parameters: toObject(parameters) }];
}

function toChoice(input: unknown): ToolOffer['choice'] {
  if (input === 'none' || input === 'required') return input;
  if (!isJsonObject(input)) return 'auto';
  const name = isJsonObject(input.function) ? input.function.name : input.name;
  return typeof name === 'string' ? { name } : 'auto';
}
