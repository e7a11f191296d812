import type { InputRequiredResult } from '@modelcontextprotocol/client';
import { isJsonObject, type JsonObject } from '#base/json/json.ts';
import type { ToolAnswer, ToolQuestion } from '#domain/tools/tool.ts';
import { createServerError } from './server-error.ts';
import { toParameters } from './to-parameters.ts';

const maxMessageChars = 2000;
const maxStateChars = 64 * 1024;
const maxQuestions = 10;

/** What of the questions of one call is done; the answers go to the server when it is called again. */
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

/** What the server is sent when it is called again. */
export interface Answers {
  readonly inputResponses?: Readonly<Record<string, unknown>>;
  readonly requestState?: string;
}

/**
 * What the user is to be asked for the server; undefined if it only wants to be called again. Throws ToolFault for what it
 * cannot be given.
 */
export function toQuestion(server: string, { inputRequests = {}, requestState }: InputRequiredResult): ToolQuestion | undefined {
  if ((requestState?.length ?? 0) > maxStateChars) throw createServerError(server, 'gives more state to keep than is taken');
  const open = Object.entries(inputRequests).map(([key, request]) => toOpenQuestion(server, key, request));
  if (open.length > maxQuestions) throw createServerError(server, `asks more than ${maxQuestions} questions at once`);
  return createNextQuestion(server, { state: requestState, open, answers: {} });
}

/** A question that a server asked in the middle of a call, after those that were answered already. */
interface NextQuestion {
  readonly key: string;
  readonly request: JsonObject;
  readonly answers: Resume['answers'];
}

/** What the user is asked after that many answers. Throws ToolFault for what it cannot be given. */
export function toNextQuestion(server: string, { key, request, answers }: NextQuestion): ToolQuestion {
  if (Object.keys(answers).length >= maxQuestions)
    throw createServerError(server, `asks more than ${maxQuestions} questions in one call`);
  const open = toOpenQuestion(server, key, request);
  return createQuestion(server, open, { state: undefined, open: [open], answers });
}

/** Takes the user's answer: gives the next question of the same call, or what the server is sent. */
export function takeAnswer(server: string, { resume, value }: ToolAnswer): ToolQuestion | Answers {
  const { state, open, answers } = resume as Resume;
  const [answeredQuestion, ...rest] = open;
  const allAnswers =
    answeredQuestion === undefined ? answers : { ...answers, [answeredQuestion.key]: toElicitResult(answeredQuestion, value) };
  return (
    createNextQuestion(server, { state, open: rest, answers: allAnswers }) ?? {
      inputResponses: allAnswers,
      ...(state !== undefined && { requestState: state }),
    }
  );
}

/** What the user left out is as the server proposed it. */
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
    throw createServerError(server, `asks its client for what it cannot be given here (${String(method).slice(0, 80)})`);
  return { key, message: String(message).slice(0, maxMessageChars), schema: toParameters(requestedSchema) };
}
