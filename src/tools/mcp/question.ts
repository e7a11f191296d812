import type { InputRequiredResult } from '@modelcontextprotocol/client';
import { isJsonObject, type JsonObject } from '#base/json/json.ts';
import type { ToolAnswer, ToolQuestion } from '#domain/tools/tool.ts';
import { serverFault } from './server-fault.ts';
import { toParameters } from './to-parameters.ts';

const longestMessage = 2000;
const longestState = 64 * 1024;
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
  if ((requestState?.length ?? 0) > longestState) throw serverFault(server, 'gives more state to keep than is taken');
  const open = Object.entries(inputRequests).map(([key, request]) => toOpenQuestion(server, key, request));
  if (open.length > maxQuestions) throw serverFault(server, `asks more than ${maxQuestions} questions at once`);
  return nextQuestion(server, { state: requestState, open, answers: {} });
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
    throw serverFault(server, `asks more than ${maxQuestions} questions in one call`);
  const open = toOpenQuestion(server, key, request);
  return askingOf(server, open, { state: undefined, open: [open], answers });
}

/** Takes the user's answer: gives the next question of the same call, or what the server is sent. */
export function takeAnswer(server: string, { resume, value }: ToolAnswer): ToolQuestion | Answers {
  const { state, open, answers } = resume as Resume;
  const [answered, ...rest] = open;
  const given = answered === undefined ? answers : { ...answers, [answered.key]: toElicited(answered, value) };
  return (
    nextQuestion(server, { state, open: rest, answers: given }) ?? {
      inputResponses: given,
      ...(state !== undefined && { requestState: state }),
    }
  );
}

/** What the user left out is as the server proposed it. */
function toElicited({ schema }: OpenQuestion, value: JsonObject | undefined): JsonObject {
  if (value === undefined) return { action: 'decline' };
  const properties = Object.entries(isJsonObject(schema.properties) ? schema.properties : {});
  const proposed = properties.flatMap(([name, property]) =>
    isJsonObject(property) && property.default !== undefined ? [[name, property.default] as const] : [],
  );
  return { action: 'accept', content: { ...Object.fromEntries(proposed), ...value } };
}

function nextQuestion(server: string, resume: Resume): ToolQuestion | undefined {
  const [next] = resume.open;
  return next && askingOf(server, next, resume);
}

function askingOf(server: string, { message, schema }: OpenQuestion, resume: Resume): ToolQuestion {
  return { label: `Answer ${server}`, message: `**${server}** asks: ${message}`, schema, resume };
}

function toOpenQuestion(server: string, key: string, request: unknown): OpenQuestion {
  const { method, params } = isJsonObject(request) ? request : {};
  const { mode = 'form', message, requestedSchema } = isJsonObject(params) ? params : {};
  if (method !== 'elicitation/create' || mode !== 'form')
    throw serverFault(server, `asks its client for what it cannot be given here (${String(method).slice(0, 80)})`);
  return { key, message: String(message).slice(0, longestMessage), schema: toParameters(requestedSchema) };
}
