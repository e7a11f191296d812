import type { ErrorCode } from '#contract/errors/errors.ts';
import { EvaluationCase, EvaluationCheck } from '#contract/evaluation/evaluation-case.ts';
import { EvaluationRequestSchema } from '#contract/evaluation/parse-cases.ts';
import {
  buildArray,
  buildList,
  buildObject,
  inPath,
  inQuery,
  json,
  listOperations,
  moment,
  type NamedSchema,
  nameObject,
  orNull,
  reply,
  type Schema,
  text,
  traceparent,
} from '../../http/openapi/operation.ts';
import { bodyErrors, keyErrors } from '../../http/openapi/operation-errors.ts';
import { exampleNames, inBucket } from '../../http/openapi/operation-examples.ts';

const integer: Schema = { type: 'integer' };
const evaluationCase: NamedSchema = { name: 'EvaluationCase', schema: EvaluationCase };
const { name, input, checks } = EvaluationCase.properties;
const savedCase = nameObject('SavedEvaluationCase', { id: text, name, input, checks, createdAt: moment, updatedAt: moment }, [
  'name',
]);
const caseList: NamedSchema = { name: 'EvaluationCaseList', schema: buildList(savedCase) };

const evaluationFields = {
  id: text,
  version: { type: 'integer', description: 'Number of the evaluated version.' },
  status: { enum: ['in_progress', 'completed', 'cancelled', 'failed'] },
  total: { type: 'integer', description: 'Number of cases.' },
  passed: { type: 'integer', description: 'Number of cases that passed all checks.' },
  failed: { type: 'integer', description: 'Number of cases that failed a check.' },
  errors: { type: 'integer', description: 'Number of cases without an answer.' },
  startedAt: moment,
  endedAt: orNull('integer', 'Milliseconds since the epoch. Null until the evaluation ends.'),
  costUsd: orNull('number', 'Cost of all answers. Null until the evaluation ends, or if a price is not known.'),
  digest: orNull(
    'string',
    'Digest of the answers, tool runs, and verdicts. Evaluations with equal results have equal digests. Null unless the evaluation is completed.',
  ),
  error: orNull('string', 'Reason of the failure.'),
};
const evaluation = nameObject('Evaluation', evaluationFields);
const evaluationList: NamedSchema = { name: 'EvaluationList', schema: buildList(evaluation) };

const outcome = { enum: ['passed', 'failed', 'error'] };
const verdicts = buildArray(buildObject({ check: EvaluationCheck, passed: { type: 'boolean' }, reason: text }));
const error: Schema = {
  anyOf: [buildObject({ code: text, message: text }), { type: 'null' }],
  description: 'Reason that the case has no answer.',
};
const costUsd = orNull('number', 'Null if a price is not known.');
const result = buildObject({
  nth: integer,
  caseId: orNull('string', 'Null for a case that came with the request.'),
  case: evaluationCase,
  outcome,
  verdicts,
  answer: text,
  toolRuns: buildArray(buildObject({ tool: text, arguments: {}, failed: { type: 'boolean' } })),
  error,
  usage: buildArray({ type: 'object' }),
  costUsd,
  durationMs: integer,
  trace: buildArray({ type: 'object' }),
});
const evaluationWithResults = nameObject('EvaluationWithResults', { ...evaluationFields, results: buildArray(result) }, [
  'results',
]);

const comparedResult: Schema = {
  anyOf: [buildObject({ outcome, verdicts, answer: text, error, costUsd, durationMs: integer }), { type: 'null' }],
};
const comparison = nameObject('EvaluationComparison', {
  before: evaluation,
  after: evaluation,
  ...{ better: integer, worse: integer, same: integer, new: integer, gone: integer },
  otherAnswers: { type: 'integer', description: 'Number of cases in both evaluations whose answer texts differ.' },
  cases: buildArray(
    buildObject({
      name: text,
      change: { enum: ['better', 'worse', 'same', 'new', 'gone'] },
      isSameAnswer: { type: 'boolean' },
      before: comparedResult,
      after: comparedResult,
    }),
  ),
});

const pathParams = [
  inBucket,
  inPath('path', 'Path of the application in the bucket. It may contain slashes.', exampleNames.ownApplication),
];
const caseParameters = [inPath('case', 'ID of a case.', exampleNames.evaluationCase)];
const evaluationParameters = [inPath('evaluation', 'ID of an evaluation.', exampleNames.evaluation)];
const errors: readonly ErrorCode[] = ['deployment_not_found'];
const itemErrors: readonly ErrorCode[] = ['evaluation_not_found'];
const cases = '/v1/cases/applications/{bucket}/{path}';
const evaluations = '/v1/evaluations/applications/{bucket}/{path}';
const evaluationPath = '/v1/evaluations/{evaluation}';
const exampleCase = {
  name: 'Opening hours',
  input: 'When is it open?',
  checks: [
    { type: 'contains', text: 'open', ignoreCase: true },
    { type: 'does_not_call', tool: 'get_weather' },
    { type: 'time_at_most', seconds: 60 },
  ],
};

const shared = { tag: 'Applications', errors: [...keyErrors, 'access_denied'] } as const;

export const evaluationOperations = listOperations(shared, {
  [`get ${cases}`]: {
    id: 'listEvaluationCases',
    summary: 'Lists the cases of an application of the caller',
    parameters: pathParams,
    responses: [reply(200, 'The cases, ordered by the time of their addition.', caseList)],
    errors,
  },
  [`post ${cases}`]: {
    id: 'addEvaluationCases',
    summary: 'Adds one or more cases',
    description:
      'A JSON body is one case, a list of cases, or `{"cases": […]}`. A CSV body may have the columns `name`, `input`, `contains`, `equals`, `matches`, `json_schema`, `calls`, `does_not_call`, `judge`, `rubric`, `max_cost_usd` and `max_seconds`. Parley adds all cases, or rejects the request.',
    parameters: [...pathParams, traceparent],
    body: [
      ...json(
        {
          anyOf: [evaluationCase, buildArray(evaluationCase), buildObject({ cases: buildArray(evaluationCase) })],
        },
        { one: { summary: 'One case', value: exampleCase } },
      ),
      {
        type: 'text/csv',
        schema: text,
        examples: { table: { summary: 'A table', value: 'name,input,contains\nGreeting,Hello,Hello\n' } },
      },
    ],
    responses: [reply(201, 'The cases, with their IDs.', caseList)],
    errors: [...errors, ...bodyErrors],
  },
  'put /v1/cases/{case}': {
    id: 'replaceEvaluationCase',
    summary: 'Replaces a case',
    parameters: caseParameters,
    body: json(evaluationCase, { other: { summary: 'Another question', value: exampleCase } }),
    responses: [reply(200, 'The case.', savedCase)],
    errors: [...itemErrors, ...bodyErrors],
  },
  'delete /v1/cases/{case}': {
    id: 'deleteEvaluationCase',
    summary: 'Deletes a case',
    description: 'Stored results of the case remain.',
    parameters: caseParameters,
    responses: [reply(204, 'The case is deleted.')],
    errors: itemErrors,
  },
  [`get ${evaluations}`]: {
    id: 'listEvaluations',
    summary: 'Lists the evaluations of an application of the caller',
    parameters: pathParams,
    responses: [reply(200, 'The evaluations, newest first.', evaluationList)],
    errors,
  },
  [`post ${evaluations}`]: {
    id: 'startEvaluation',
    summary: 'Starts an evaluation of a version',
    description:
      'The evaluation runs with the rights, limits, and consents of the caller, who is charged. It continues after the client disconnects. A user may have at most 3 evaluations in progress.',
    parameters: pathParams,
    body: json(
      {
        ...EvaluationRequestSchema,
        properties: {
          ...EvaluationRequestSchema.properties,
          cases: {
            type: 'array',
            items: evaluationCase,
            maxItems: 1000,
            description: 'Cases to run instead of the stored cases of the application.',
          },
        },
      },
      { given: { summary: 'Cases of the request', value: { cases: [exampleCase] } } },
    ),
    isBodyOptional: true,
    responses: [reply(202, 'The evaluation is started.', evaluation)],
    errors: [...errors, ...bodyErrors, 'overloaded', 'shutting_down'],
  },
  [`get ${evaluationPath}`]: {
    id: 'getEvaluation',
    summary: 'Returns an evaluation with the results so far',
    parameters: [
      ...evaluationParameters,
      inQuery('results', 'With `false`, the response has no results.', { schema: { enum: ['true', 'false'] } }),
    ],
    responses: [reply(200, 'The evaluation.', evaluationWithResults)],
    errors: itemErrors,
  },
  [`get ${evaluationPath}/comparison`]: {
    id: 'compareEvaluations',
    summary: 'Compares an evaluation with an earlier one of the same application',
    description: 'Cases match by ID, or by name and input. If both outcomes are equal, the share of passed checks decides.',
    parameters: [
      ...evaluationParameters,
      inQuery('with', 'ID of the earlier evaluation.', { required: true, example: exampleNames.evaluation }),
    ],
    responses: [reply(200, 'The comparison.', comparison)],
    errors: [...itemErrors, 'invalid_request'],
  },
  [`post ${evaluationPath}/cancel`]: {
    id: 'cancelEvaluation',
    summary: 'Cancels an evaluation',
    description: 'Existing results remain. An evaluation that has ended does not change.',
    parameters: evaluationParameters,
    responses: [reply(200, 'The current state of the evaluation.', evaluation)],
    errors: itemErrors,
  },
});
