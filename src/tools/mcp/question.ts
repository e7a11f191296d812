import type { InputRequiredResult } from '@modelcontextprotocol/client';
import { isJsonObject, type JsonObject } from '#base/json/json.ts';
import type { ToolAnswer, ToolQuestion } from '#domain/tools/tool.ts';
import { createServerError } from './server-error.ts';
import { toParameters } from './to-parameters.ts';

const maxMessageChars = 2000;
const maxStateChars = 64 * 1024;
const maxQuestions = 10;

/** Progress with the questions of one call. The answers are sent when the call is repeated. */
interface Resume extends JsonObject {
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
export function toQuestion(server: string, { inputRequests = {}, requestState }: InputRequiredResult): ToolQuestion | undefined {
  if ((requestState?.length ?? 0) > maxStateChars)
    throw createServerError(server, `sends a requestState of more than ${maxStateChars} characters`);
  const open = Object.entries(inputRequests).map(([key, request]) => toOpenQuestion(server, key, request));
  if (open.length > maxQuestions) throw createServerError(server, `asks more than ${maxQuestions} questions in one result`);
  return createNextQuestion(server, { state: requestState, open, answers: {} });
}

/** A question that a server asked during a call, with the answers to the earlier ones. */
interface NextQuestion {
  readonly key: string;
  readonly request: JsonObject;
  readonly answers: Resume['answers'];
}

/** Returns the next question for the user. Throws `ToolError` for an unsupported question, or too many. */
export function toNextQuestion(server: string, { key, request, answers }: NextQuestion): ToolQuestion {
  if (Object.keys(answers).length >= maxQuestions)
    throw createServerError(server, `asks more than ${maxQuestions} questions in one call`);
  const open = toOpenQuestion(server, key, request);
  return createQuestion(server, open, { state: undefined, open: [open], answers });
}

/** Applies the user's answer. Returns the next question of the same call, or the fields for repeating it. */
export function applyAnswer(server: string, { resume, value }: ToolAnswer): ToolQuestion | Answers {
  const { state, open, answers } = resume as Resume;
  const [answeredQuestion, ...laterQuestions] = open;
  const allAnswers =
    answeredQuestion === undefined ? answers : { ...answers, [answeredQuestion.key]: toElicitResult(answeredQuestion, value) };
  return (
    createNextQuestion(server, { state, open: laterQuestions, answers: allAnswers }) ?? {
      inputResponses: allAnswers,
      ...(state !== undefined && { requestState: state }),
    }
  );
}

/** Values that the user omitted get the server's defaults. */
function toElicitResult({ schema }: OpenQuestion, value: JsonObject | undefined): JsonObject {
  if (value === undefined) return { action: 'decline' };
  const properties = Object.entries(isJsonObject(schema.properties) ? schema.properties : {});
  const defaults = properties.flatMap(([name, property]) =>
    isJsonObject(property) && property.default !== undefined ? [[name, property.default] as const] : [],
  );
  return { action: 'accept', content: { ...Object.fromEntries(defaults), ...value } };
}

function createNextQuestion(server: string, resume: Resume): ToolQuestion | undefined {
  const [next] = resume.open;
  return next && createQuestion(server, next, resume);
}

function createQuestion(server: string, { message, schema }: OpenQuestion, resume: Resume): ToolQuestion {
  return { label: `Answer ${server}`, message: `**${server}** asks: ${message}`, schema, resume };
}

function toOpenQuestion(server: string, key: string, request: unknown): OpenQuestion {
  const { method, params } = isJsonObject(request) ? request : {};
  const { mode = 'form', message, requestedSchema } = isJsonObject(params) ? params : {};
  if (method !== 'elicitation/create' || mode !== 'form')
    throw createServerError(server, `asks its client for data that Parley cannot give (${String(method).slice(0, 80)})`);
  return { key, message: String(message).slice(0, maxMessageChars), schema: toParameters(requestedSchema) };
}
