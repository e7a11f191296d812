import { type Static, type TProperties, Type } from 'typebox';
import { Message } from '../chat/message.ts';
import { anyObject } from '../schemas/type-builders.ts';

/** Limits of cases. Sizes are characters of JSON. `maxPatterns` applies to all cases of a request together. */
export const caseBounds = {
  maxCases: 1000,
  maxPatterns: 1000,
  maxChars: 200_000,
  maxTotalChars: 4 * 1024 ** 2,
  maxChecks: 20,
} as const;

const maxTextChars = 20_000;
const text = (description: string, maxLength = maxTextChars) => Type.String({ minLength: 1, maxLength, description });

function check<const Kind extends string, Fields extends TProperties>(type: Kind, fields: Fields, description: string) {
  return Type.Object({ type: Type.Literal(type), ...fields }, { additionalProperties: false, description });
}

const tool = text('Name of the tool as in the trace.', 200);

/** Schemas of the checks on an answer, by `type`. */
export const checkSchemas = {
  contains: check(
    'contains',
    {
      text: text('Text that the answer must contain.'),
      ignoreCase: Type.Optional(Type.Boolean({ description: 'Whether to ignore case. Default: false.' })),
    },
    'The answer must contain this text.',
  ),
  equals: check(
    'equals',
    { text: Type.String({ maxLength: maxTextChars }) },
    'The answer must equal this text, except for white space around it.',
  ),
  matches: check(
    'matches',
    { pattern: text('Regular expression in RE2 syntax.', 1000) },
    'A part of the answer must match the regular expression.',
  ),
  json_schema: check(
    'json_schema',
    { schema: anyObject('A JSON Schema of at most 16,000 characters.') },
    'The answer must be JSON that follows the schema. A code fence around it is allowed.',
  ),
  calls: check(
    'calls',
    {
      tool,
      arguments: Type.Optional(anyObject('Expected arguments. The actual arguments can have additional members.')),
    },
    'The tool must be called, with at least these arguments.',
  ),
  does_not_call: check('does_not_call', { tool }, 'The tool must not be called.'),
  judged: check(
    'judged',
    {
      deployment: text('ID of the deployment that judges the answer.', 512),
      rubric: text('Criteria of a good answer.'),
    },
    'A deployment must judge that the answer follows the rubric.',
  ),
  cost_at_most: check(
    'cost_at_most',
    { usd: Type.Number({ minimum: 0, description: 'Maximum cost in USD.' }) },
    'The cost of the answer must not exceed the maximum.',
  ),
  time_at_most: check(
    'time_at_most',
    { seconds: Type.Number({ minimum: 0.001, maximum: 86_400, description: 'Maximum time in seconds.' }) },
    'The time for the answer must not exceed the maximum.',
  ),
} as const;
export type CheckType = keyof typeof checkSchemas;

const checks = Object.values(checkSchemas);
export const EvaluationCheck = Type.Union(checks as never);
export type EvaluationCheck = Static<(typeof checkSchemas)[CheckType]>;

/** A question to an application, with checks on its answer. */
export const EvaluationCase = Type.Object(
  {
    name: Type.Optional(text('Name of the case for users.', 200)),
    input: Type.Union([Type.String({ minLength: 1 }), Type.Array(Message, { minItems: 1 })], {
      description: 'Message of the user, or messages of a conversation.',
    }),
    checks: Type.Array(EvaluationCheck, {
      maxItems: caseBounds.maxChecks,
      description: 'Checks on the answer. An empty list only requires an answer.',
    }),
  },
  { additionalProperties: false },
);
export interface EvaluationCase {
  readonly name?: string;
  readonly input: string | readonly Message[];
  readonly checks: readonly EvaluationCheck[];
}
