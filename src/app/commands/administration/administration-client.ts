import { joinPath } from '#base/http/url-path.ts';
import { isJsonObject, type JsonObject, tryParseJson } from '#base/json/json.ts';
import { trimEnd } from '#base/text/truncate.ts';

/** Response of `POST /v1/admin/apply`. */
export interface AppliedDocument extends JsonObject {
  readonly dryRun: boolean;
  /** ID of the change. Null if no entry was stored. */
  readonly change: string | null;
  readonly data: readonly AppliedWrite[];
}

/** A write of an entry, as the service returns it. */
export interface AppliedWrite {
  readonly kind: string;
  readonly id: string;
  readonly action: 'created' | 'updated' | 'deleted';
  readonly differences: readonly { readonly path: string; readonly before?: unknown; readonly after?: unknown }[];
}

/** The service is unreachable or rejects the request. The message may be shown to the user. */
export class AdministrationError extends Error {
  override readonly name = 'AdministrationError';
  /** Error code of the service, such as `in_use`. Undefined if the service did not return one. */
  readonly code: string | undefined;
  /** Errors of the document, by path. */
  readonly errors: readonly { readonly path: string; readonly message: string; readonly hint?: string }[];
  /** Next step for the user. */
  readonly suggestion: string | undefined;

  constructor(message: string, details: Partial<Pick<AdministrationError, 'code' | 'errors' | 'suggestion' | 'cause'>> = {}) {
    super(message, { cause: details.cause });
    this.code = details.code;
    this.errors = details.errors ?? [];
    this.suggestion = details.suggestion;
  }
}

const timeoutMs = 120_000;
const retrySuggestion = 'Check the address, and run the command again. It does not repeat a change that is already stored';
/** Error codes of requests that were not sent. */
const unreachableCodes: ReadonlySet<unknown> = new Set([
  ...['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'ETIMEDOUT', 'UND_ERR_CONNECT_TIMEOUT'],
]);

/** Dependencies of `AdministrationClient`. */
export interface AdministrationClientDeps {
  readonly base: URL;
  readonly key: string;
  /** Source of the key, for messages. */
  readonly keySource: string;
}

/** Client for the configuration of a running service. Throws AdministrationError. */
export class AdministrationClient {
  readonly #deps: AdministrationClientDeps;

  constructor(deps: AdministrationClientDeps) {
    this.#deps = deps;
  }

  /** Stores the entries of a document in one change, or returns the differences only. */
  async apply(document: JsonObject, flags: { isDryRun: boolean; isPruning: boolean }): Promise<AppliedDocument> {
    const query = new URLSearchParams({ dryRun: String(flags.isDryRun), prune: String(flags.isPruning) });
    return (await this.#send('POST', `v1/admin/apply?${query}`, document)) as AppliedDocument;
  }

  /** Returns the entries that were created at run time, with hidden secrets. */
  export(): Promise<JsonObject> {
    return this.#send('GET', 'v1/admin/export');
  }

  async #send(method: string, pathAndQuery: string, body?: object): Promise<JsonObject> {
    const { base, key } = this.#deps;
    const [path = '', query = ''] = pathAndQuery.split('?');
    const url = joinPath(base, path);
    url.search = query;
    const headers = { Authorization: `Bearer ${key}`, ...(body !== undefined && { 'Content-Type': 'application/json' }) };
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
    return value;
  }

  #toConnectionError(cause: unknown): AdministrationError {
    const { origin } = this.#deps.base;
    const error = cause instanceof Error ? cause : undefined;
    const { code } = (error?.cause ?? error ?? {}) as { readonly code?: unknown };
    if (error?.name === 'TimeoutError')
      return new AdministrationError(`${origin} did not respond within ${timeoutMs / 1000} s`, {
        suggestion: retrySuggestion,
        cause,
      });
    if (unreachableCodes.has(code))
      return new AdministrationError(`${origin} is unreachable (${code})`, {
        suggestion: 'Start the service, or set its address with --url or PARLEY_URL',
        cause,
      });
    if (typeof code === 'string' && /CERT|SIGNED|ISSUER/.test(code))
      return new AdministrationError(`The certificate of ${origin} is not trusted (${code})`, {
        suggestion: 'Set NODE_EXTRA_CA_CERTS to a file with the certificate of its authority',
        cause,
      });
    return new AdministrationError(`The connection to ${origin} failed${code === undefined ? '' : ` (${code})`}`, {
      suggestion: retrySuggestion,
      cause,
    });
  }

  #toServiceError({ status, headers }: Response, value: unknown): AdministrationError {
    const error = isJsonObject(value) && isJsonObject(value.error) ? value.error : undefined;
    if (status >= 300 && status < 400)
      return this.#toOtherServiceError(`redirects to ${headers.get('location') ?? 'another address'}`);
    if (typeof error?.message !== 'string') return this.#toOtherServiceError(`responded with ${status}`);
    const code = typeof error.code === 'string' ? error.code : undefined;
    const suggestion = this.#getSuggestion(status, code);
    return new AdministrationError(trimEnd(error.message, '.'), { code, errors: readErrors(error), suggestion });
  }

  #toOtherServiceError(reason: string): AdministrationError {
    const suggestion = 'Set the address of a Parley service with --url or PARLEY_URL';
    return new AdministrationError(`${this.#deps.base.origin} ${reason}`, { suggestion });
  }

  #getSuggestion(status: number, code: string | undefined): string | undefined {
    const { keySource } = this.#deps;
    if (status === 401) return `Check the key in ${keySource}`;
    if (code === 'access_denied')
      return `Give the key in ${keySource} the role admin. For diff, export, and --dry-run, the role auditor is sufficient`;
    if (code === 'in_use')
      return 'Change these entries in the same document, or delete the entry with DELETE /v1/admin/{kind}/{id}?force=true';
    if (code === 'configured_in_file')
      return 'Change the configuration file of the service, or remove the entry from the document';
    if (code === 'route_not_found')
      return 'Upgrade the service, whose version has no run-time configuration, or set its address with --url';
    if (code === 'payload_too_large') return 'Split the document, and apply the parts without --prune';
    return status === 503 ? 'No entry was stored. Try again later' : undefined;
  }
}

/** Returns the errors of the document by path. For `in_use`, these are the paths of the entries that the change would break. */
function readErrors({ errors, usedBy, param, message }: JsonObject): AdministrationError['errors'] {
  if (Array.isArray(errors)) return errors as AdministrationError['errors'];
  if (Array.isArray(usedBy))
    return usedBy.map((path) => ({ path: String(path), message: 'depends on the current value of another entry' }));
  const start = `${param} `;
  if (typeof param !== 'string' || typeof message !== 'string' || !message.startsWith(start)) return [];
  return [{ path: param, message: trimEnd(message.slice(start.length), '.') }];
}
