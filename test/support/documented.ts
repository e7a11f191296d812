/** The part of an OpenAPI document that the tests read. */
export interface OpenApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, DescribedOperation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, object>> };
}

type Media = Readonly<
  Record<string, { readonly schema: object; readonly examples?: Readonly<Record<string, { value: unknown }>> }>
>;

interface DescribedParameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required?: boolean;
  readonly example?: string | number | boolean;
}

interface DescribedOperation {
  readonly summary: string;
  readonly description?: string;
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly parameters?: readonly DescribedParameter[];
  readonly requestBody?: { readonly content: Media };
  readonly responses: Readonly<Record<string, { readonly content?: Media }>>;
  readonly security: readonly Readonly<Record<string, unknown>>[];
}

/** An operation with its method and path. */
export interface DocumentedOperation extends DescribedOperation {
  readonly method: string;
  readonly path: string;
}

/** A request that is built from an example of the document. */
export interface ExampleRequest {
  readonly title: string;
  readonly operation: DocumentedOperation;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: { readonly type: string; readonly value: unknown } | undefined;
}

export function readOperations({ paths }: OpenApiDocument): readonly DocumentedOperation[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => {
      const requestBody = findOriginal(operation, paths)?.requestBody ?? operation.requestBody;
      return { ...operation, ...(requestBody && { requestBody }), method, path };
    }),
  );
}

/** The document shows the examples of an operation at its first path only. They are sent to its aliases too. */
function findOriginal({ description = '' }: DescribedOperation, paths: OpenApiDocument['paths']): DescribedOperation | undefined {
  const [, method = '', path = ''] = /^Alias of `(\w+) (\S+)`/.exec(description) ?? [];
  return paths[path]?.[method.toLowerCase()];
}

/** Returns the required parameters and the bodies that have no example. They prevent a request. */
export function listMissingExamples({ parameters = [], requestBody }: DocumentedOperation): readonly string[] {
  const missing = parameters.filter(({ required, example }) => required && example === undefined).map(({ name }) => name);
  const bodies = Object.entries(requestBody?.content ?? {}).filter(([, { examples = {} }]) => Object.keys(examples).length === 0);
  return [...missing, ...bodies.map(([type]) => `a body of ${type}`)];
}

/** Builds requests from each body example: one with the required parameters, one with all parameters that have an example. */
export function toRequests(operation: DocumentedOperation): readonly ExampleRequest[] {
  const { method, path, parameters = [] } = operation;
  const required = parameters.filter((parameter) => parameter.required);
  const all = parameters.filter(({ example }) => example !== undefined);
  return listBodies(operation).flatMap(({ name, body }) =>
    [required, ...(all.length > required.length ? [all] : [])].map((sent, index) => ({
      title: `${method.toUpperCase()} ${path}${name}${index === 0 ? '' : ' with every parameter'}`,
      operation,
      url: toUrl(path, sent),
      headers: Object.fromEntries(listExamples('header', sent)),
      body,
    })),
  );
}

function listBodies({
  requestBody,
}: DocumentedOperation): readonly { readonly name: string; readonly body: ExampleRequest['body'] }[] {
  if (requestBody === undefined) return [{ name: '', body: undefined }];
  return Object.entries(requestBody.content).flatMap(([type, { examples = {} }]) =>
    Object.entries(examples).map(([name, { value }]) => ({ name: ` (${name})`, body: { type, value } })),
  );
}

function toUrl(path: string, parameters: readonly DescribedParameter[]): string {
  const values = new Map(listExamples('path', parameters));
  const filledPath = path.replaceAll(/\{(\w+)\}/g, (_match, name: string) => encodeURIComponent(values.get(name) ?? ''));
  const query = new URLSearchParams(listExamples('query', parameters)).toString();
  return query === '' ? filledPath : `${filledPath}?${query}`;
}

function listExamples(location: DescribedParameter['in'], parameters: readonly DescribedParameter[]): [string, string][] {
  return parameters.filter((parameter) => parameter.in === location).map(({ name, example }) => [name, String(example)]);
}
