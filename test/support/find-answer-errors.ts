import { areNonconformingUpstreamsAllowed, findOperation, type RecordedAnswer, toValues } from './described-answers.ts';
import { type DocumentedOperation, type OpenApiDocument, readOperations } from './documented.ts';
import { Specification } from './open-responses/specification.ts';
import { Validators } from './validators.ts';

/** Statuses that the server may return before it finds an operation: for invalid header fields, a slow client, or a wrong method. */
const generalStatuses: ReadonlySet<number> = new Set([405, 408, 417, 426, 431]);
/** Tags of operations that relay upstream replies. These replies may have undocumented fields. */
const relayedTags: ReadonlySet<string> = new Set(['Chat', 'Embeddings', 'Further APIs', 'Messages', 'Responses', 'MCP']);
const maxValueChars = 600;

class OpenApiValidator {
  readonly #operations: readonly DocumentedOperation[];
  readonly #validators: Validators;

  constructor(document: OpenApiDocument) {
    this.#operations = readOperations(document);
    this.#validators = new Validators(document);
  }

  findErrors({ method, path, status, type, text, isComplete }: RecordedAnswer): readonly string[] {
    const operation = findOperation(this.#operations, method, path);
    if (operation === undefined || generalStatuses.has(status)) return [];
    const key = status in operation.responses ? status : 'default';
    const documentedResponse = operation.responses[key];
    // A test service may lack optional parts, such as file storage or administration.
    if (documentedResponse === undefined) return text.includes('"route_not_found"') ? [] : ['its status is not documented'];
    if (text === '' || method === 'HEAD' || (!isComplete && type !== 'text/event-stream')) return [];
    const { content } = documentedResponse;
    if (content === undefined) return ['its body is not documented'];
    const documentedType = type in content ? type : '*/*';
    if (!(documentedType in content)) return [`its media type ${type} is not documented`];
    const isRelayed = 'default' in operation.responses || operation.tags.some((tag) => relayedTags.has(tag));
    if (isRelayed && status < 300 && areNonconformingUpstreamsAllowed()) return [];
    const check = isRelayed ? 'relayedAnswer' : 'answer';
    const isError = (value: unknown): boolean =>
      type === 'text/event-stream' && typeof value === 'object' && value !== null && 'error' in value;
    const values = toValues(documentedType, text).filter((value) => !isError(value));
    return values.flatMap((value) =>
      this.#validators[check](
        operation,
        key,
        documentedType,
      )(value).map((error) => `${error} in ${JSON.stringify(value).slice(0, maxValueChars)}`),
    );
  }
}

/**
 * Cached outside the setup file, which runs again for each test file. Creating a validator takes as long as running many test
 * files.
 */
const openApiValidators = new WeakMap<OpenApiDocument, OpenApiValidator>();
const specification = new Specification();

/**
 * Returns the differences between a response and the OpenAPI document of its service and, for the Responses API, the Open
 * Responses specification.
 */
export function findAnswerErrors(answer: RecordedAnswer): readonly string[] {
  const document = answer.getOpenApiDocument();
  const validator = openApiValidators.get(document) ?? new OpenApiValidator(document);
  openApiValidators.set(document, validator);
  const { method, path, status } = answer;
  const specificationErrors = status < 300 && areNonconformingUpstreamsAllowed() ? [] : specification.findAnswerErrors(answer);
  const errors = [
    ...validator.findErrors(answer).map((error) => `does not match /openapi.json: ${error}`),
    ...specificationErrors.map((error) => `does not match Open Responses: ${error}`),
  ];
  return errors.map((error) => `${method} ${path} ${status}: ${error}`);
}
