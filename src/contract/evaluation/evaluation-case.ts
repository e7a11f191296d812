import { type Static, type TProperties, Type } from 'typebox';
import type { JsonObject } from '#base/json/json.ts';
import { Message } from '../chat/message.ts';

/** Limits of cases. Sizes are characters of JSON. `maxPatterns` applies to all cases of a request together. */
export const caseBounds = {
  maxCases: 1000,
  maxPatterns: 1000,
  maxChars: 200_000,
  maxCharsOfAll: 4 * 1024 ** 2,
  maxChecks: 20,
} as const;

const maxTextChars = 20_000;
const jsonObject = (description: string) => Type.Unsafe<JsonObject>({ type: 'object', description });
const text = (description: string, maxLength = maxTextChars) => Type.String({ minLength: 1, maxLength, description });

function check<const Kind extends string, Fields extends TProperties>(type: Kind, fields: Fields, description: string) {
  return Type.Object({ type: Type.Literal(type), ...fields }, { additionalProperties: false, description });
}

const tool = text('Name of the tool, as the trace has it.', 200);

/** Schemas of the checks on an answer, by `type`. */
export const checkForms = {
  contains: check(
    'contains',
    {
      text: text('What the answer has in it.'),
      ignoreCase: Type.Optional(Type.Boolean({ description: 'Whether large and small letters are the same. Absent: no.' })),
    },
    'The answer has this text in it.',
  ),
  equals: check(
    'equals',
    { text: Type.String({ maxLength: maxTextChars }) },
    'The answer is this text, but for white space around it.',
  ),
  matches: check(
    'matches',
    { pattern: text('A regular expression of RE2.', 1000) },
    'A regular expression finds something in the answer.',
  ),
  json_schema: check(
    'json_schema',
    { schema: jsonObject('A JSON Schema of at most 16,000 characters.') },
    'The answer is JSON of this schema; a code fence around it is fine.',
  ),
  calls: check(
    'calls',
    {
      tool,
      arguments: Type.Optional(jsonObject('What its arguments have: members of objects may be fewer than were sent.')),
    },
    'A tool is called, with these arguments at least.',
  ),
  does_not_call: check('does_not_call', { tool }, 'A tool is not called.'),
  judged: check(
    'judged',
    {
      deployment: text('Id of the deployment that judges.', 512),
      rubric: text('What a good answer is.'),
    },
    'A deployment finds that the answer follows the rubric.',
  ),
  cost_at_most: check(
    'cost_at_most',
    { usd: Type.Number({ minimum: 0, description: 'USD.' }) },
    'The answer costs at most this.',
  ),
  time_at_most: check(
    'time_at_most',
    { seconds: Type.Number({ minimum: 0.001, maximum: 86_400, description: 'Seconds.' }) },
    'The answer takes at most this long.',
  ),
} as const;
export type CheckType = keyof typeof checkForms;

const checks = Object.values(checkForms);
export const EvaluationCheck = Type.Union(checks as never);
export type EvaluationCheck = Static<(typeof checkForms)[CheckType]>;

/** A question to an application, with checks on its answer. */
export const EvaluationCase = Type.Object(
  {
    name: Type.Optional(text('Tells it apart for people.', 200)),
    input: Type.Union([Type.String({ minLength: 1 }), Type.Array(Message, { minItems: 1 })], {
      description: 'What the user says, or the messages of a conversation.',
    }),
    checks: Type.Array(EvaluationCheck, {
      maxItems: caseBounds.maxChecks,
      description: 'What must hold. Empty: that there is an answer.',
    }),
  },
  { additionalProperties: false },
);
export interface EvaluationCase {
  readonly name?: string;
  readonly input: string | readonly Message[];
  readonly checks: readonly EvaluationCheck[];
}
