import { joinPath } from '#base/http/url-path.ts';
import { isJsonObject, type JsonObject, tryParseJson } from '#base/json/json.ts';
import { trimEnd } from '#base/text/truncate.ts';

/** The service is unreachable or rejects the request. The message is for the user. */
export class ServiceClientError extends Error {
  override readonly name = 'ServiceClientError';
  /** Error code of the service, such as `in_use`. Undefined if the service did not return one. */
  readonly code: string | undefined;
  /** Errors of the request body, each with its path. */
  readonly errors: readonly { readonly path: string; readonly message: string; readonly hint?: string }[];
  /** Next step for the user. */
  readonly suggestion: string | undefined;

  constructor(message: string, details: Partial<Pick<ServiceClientError, 'code' | 'errors' | 'suggestion' | 'cause'>> = {}) {
    super(message, { cause: details.cause });
    this.code = details.code;
    this.errors = details.errors ?? [];
    this.suggestion = details.suggestion;
  }
}

/** Returns the message of an error, with the next step for the user if there is one. */
export function formatMessage(error: Error): string {
  const suggestion = error instanceof ServiceClientError ? error.suggestion : undefined;
  return suggestion === undefined ? error.message : `${error.message}. ${suggestion}`;
}

const timeoutMs = 120_000;
/** Error codes of requests that were not sent. */
const unreachableCodes: ReadonlySet<unknown> = new Set([
  ...['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'ETIMEDOUT', 'UND_ERR_CONNECT_TIMEOUT'],
]);

/** Dependencies of `ServiceClient`. */
export interface ServiceClientDeps {
  readonly base: URL;
  readonly key: string | undefined;
  /** Next step for the user after a lost connection. */
  readonly retrySuggestion: string;
  /** Returns the next step for the user after an error of the service. */
  readonly getSuggestion: (status: number, code: string | undefined) => string | undefined;
}

/** Client for the API of a running service. Throws ServiceClientError. */
export class ServiceClient {
  readonly #deps: ServiceClientDeps;

  constructor(deps: ServiceClientDeps) {
    this.#deps = deps;
  }

  /** Sends a request. The caller states the type of the service's response. */
  async send<Reply>(
    method: string,
    path: string,
    { body, query = '' }: { readonly body?: object; readonly query?: string } = {},
  ): Promise<Reply> {
    const { base, key } = this.#deps;
    const url = joinPath(base, path);
    url.search = query;
    const headers = {
      ...(key !== undefined && { Authorization: `Bearer ${key}` }),
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
    };
    const request = { method, headers, redirect: 'manual', signal: AbortSignal.timeout(timeoutMs) } as const;
    let response: Response;
    let text: string;
    try {
      response = await fetch(url, { ...request, ...(body !== undefined && { body: JSON.stringify(body) }) });
      text = await response.text();
    } catch (cause) {
      throw this.#toConnectionError(cause);
    }
    const value = tryParseJson(text, { maxDepth: 1000, maxNodes: Number.POSITIVE_INFINITY, allowsProto: true });
    if (!response.ok) throw this.#toServiceError(response, value);
    if (!isJsonObject(value)) throw this.#toOtherServiceError(`responded with ${response.status}, but without JSON`);
    return value as Reply;
  }

  #toConnectionError(cause: unknown): ServiceClientError {
    const { base, retrySuggestion } = this.#deps;
    const { origin } = base;
    const error = cause instanceof Error ? cause : undefined;
    const { code } = (error?.cause ?? error ?? {}) as { readonly code?: unknown };
    if (error?.name === 'TimeoutError')
      return new ServiceClientError(`${origin} did not respond within ${timeoutMs / 1000} s`, {
        suggestion: retrySuggestion,
        cause,
      });
    if (unreachableCodes.has(code))
      return new ServiceClientError(`${origin} is unreachable (${code})`, {
        suggestion: 'Start the service, or set its address with --url or PARLEY_URL',
        cause,
      });
    if (typeof code === 'string' && /CERT|SIGNED|ISSUER/.test(code))
      return new ServiceClientError(`The certificate of ${origin} is not trusted (${code})`, {
        suggestion: 'Set NODE_EXTRA_CA_CERTS to a file with the certificate of its authority',
        cause,
      });
    return new ServiceClientError(`The connection to ${origin} failed${code === undefined ? '' : ` (${code})`}`, {
      suggestion: retrySuggestion,
      cause,
    });
  }

  #toServiceError({ status, headers }: Response, value: unknown): ServiceClientError {
    const error = isJsonObject(value) && isJsonObject(value.error) ? value.error : undefined;
    if (status >= 300 && status < 400)
      return this.#toOtherServiceError(`redirects to ${headers.get('location') ?? 'another address'}`);
    if (typeof error?.message !== 'string') return this.#toOtherServiceError(`responded with ${status}`);
    const code = typeof error.code === 'string' ? error.code : undefined;
    const suggestion = this.#deps.getSuggestion(status, code);
    return new ServiceClientError(trimEnd(error.message, '.'), { code, errors: readErrors(error), suggestion });
  }

  #toOtherServiceError(reason: string): ServiceClientError {
    const suggestion = 'Set the address of a Parley service with --url or PARLEY_URL';
    return new ServiceClientError(`${this.#deps.base.origin} ${reason}`, { suggestion });
  }
}

/** Returns the errors of the document by path. For `in_use`, these are the paths of the entries that the change would break. */
function readErrors({ errors, usedBy, param, message }: JsonObject): ServiceClientError['errors'] {
  if (Array.isArray(errors)) return errors as ServiceClientError['errors'];
  if (Array.isArray(usedBy))
    return usedBy.map((path) => ({ path: String(path), message: 'depends on the current value of another entry' }));
  const start = `${param} `;
  if (typeof param !== 'string' || typeof message !== 'string' || !message.startsWith(start)) return [];
  return [{ path: param, message: trimEnd(message.slice(start.length), '.') }];
}
