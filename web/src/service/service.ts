import { tryParseJson } from '#base/json/json.ts';
import { Reachability } from './reachability.ts';
import { parseErrorDetails, ServiceError, toErrorDetails } from './service-error.ts';
import { isServicePath, toReferencePath } from './service-path.ts';

/** Header fields that authenticate the user. */
export type AuthHeaders = Readonly<Record<string, string>>;

/** Credentials for each request to the service. */
export interface Credentials {
  getHeaders(): Promise<AuthHeaders>;
  /** Returns whether new credentials replaced the rejected ones. */
  renew(rejected: AuthHeaders): Promise<boolean>;
}

export interface ServiceRequest {
  readonly method?: string;
  readonly body?: unknown;
  /** Text body, instead of `body`. The headers must contain its type. */
  readonly text?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

export interface UploadRequest {
  /** Called with the sent fraction, from 0 to 1. */
  readonly onProgress: (fraction: number) => void;
  readonly signal: AbortSignal;
}

/** The service behind the page, called with the credentials of the user. */
export class Service {
  readonly reachability: Reachability;
  readonly #credentials: Credentials;
  readonly #headers: Readonly<Record<string, string>>;

  constructor(credentials: Credentials, headers: Readonly<Record<string, string>> = {}, reachability = new Reachability()) {
    this.#credentials = credentials;
    this.#headers = headers;
    this.reachability = reachability;
  }

  /** Returns a service that adds these header fields to every request except uploads. */
  withHeaders(headers: Readonly<Record<string, string>>): Service {
    return new Service(this.#credentials, { ...this.#headers, ...headers }, this.reachability);
  }

  /** Returns the complete response. Throws `ServiceError` for every status other than 2xx, and if there is no response. */
  async send(path: string, request: ServiceRequest = {}): Promise<Response> {
    if (!isServicePath(path)) rejectPath();
    const authHeaders = await this.#credentials.getHeaders();
    const first = await this.#sendOnce(path, request, authHeaders);
    const isRenewed = first.status === 401 && (await this.#credentials.renew(authHeaders));
    const response = isRenewed ? await this.#sendOnce(path, request, await this.#credentials.getHeaders()) : first;
    if (!response.ok) throw new ServiceError(await readError(response));
    return response;
  }

  /** Loads the content of a file reference. Throws `ServiceError`, also if the text is not a reference. */
  async sendReference(reference: string, request?: ServiceRequest): Promise<Response> {
    return this.send(toReferencePath(reference) ?? rejectPath(), request);
  }

  async json(path: string, request?: ServiceRequest): Promise<unknown> {
    return tryParseJson(await (await this.send(path, request)).text());
  }

  async #sendOnce(path: string, request: ServiceRequest, authHeaders: AuthHeaders): Promise<Response> {
    const answer = sendRequest(path, { ...request, headers: { ...this.#headers, ...request.headers } }, authHeaders);
    answer.catch(() => request.signal?.aborted || this.reachability.check());
    return answer;
  }

  /** Uploads a file. Throws `ServiceError`. */
  async upload(path: string, file: Blob, request: UploadRequest): Promise<unknown> {
    if (!isServicePath(path)) rejectPath();
    const authHeaders = await this.#credentials.getHeaders();
    try {
      return await putFile(path, file, { ...request, authHeaders });
    } catch (error) {
      const isRenewed = toErrorDetails(error).status === 401 && (await this.#credentials.renew(authHeaders));
      if (!isRenewed) throw error;
      return putFile(path, file, { ...request, authHeaders: await this.#credentials.getHeaders() });
    }
  }
}

/**
 * Throws the error for an unsafe path. IDs and references come from other users, so a `..` in them must not send the credentials
 * to another path.
 */
function rejectPath(): never {
  throw new ServiceError({ status: 404, code: 'route_not_found', message: '' });
}

function sendRequest(
  path: string,
  { method = 'GET', body, text, headers, signal }: ServiceRequest,
  authHeaders: AuthHeaders,
): Promise<Response> {
  return fetch(path, {
    method,
    headers: { ...headers, ...authHeaders, ...(body !== undefined && { 'content-type': 'application/json' }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    ...(text !== undefined && { body: text }),
    ...(signal && { signal }),
    credentials: 'omit',
    cache: 'no-store',
    redirect: 'error',
  }).catch((error: unknown) => {
    signal?.throwIfAborted();
    throw new ServiceError({ status: 0, code: 'connection_lost', message: '' }, error);
  });
}

function putFile(
  path: string,
  file: Blob,
  { onProgress, signal, authHeaders }: UploadRequest & { readonly authHeaders: AuthHeaders },
): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    const abort = (): void => request.abort();
    const fail = (): void => reject(new ServiceError({ status: 0, code: 'connection_lost', message: '' }));
    if (signal.aborted) return fail();
    request.open('PUT', path);
    for (const [name, value] of Object.entries(authHeaders)) request.setRequestHeader(name, value);
    request.setRequestHeader('content-type', file.type || 'application/octet-stream');
    request.upload.onprogress = ({ loaded, total }) => onProgress(total === 0 ? 0 : loaded / total);
    request.onerror = fail;
    request.onabort = fail;
    request.onloadend = () => signal.removeEventListener('abort', abort);
    request.onload = () => {
      const body = tryParseJson(request.responseText);
      if (request.status < 300) resolve(body);
      else reject(new ServiceError(parseErrorDetails(body, request.status)));
    };
    signal.addEventListener('abort', abort);
    request.send(file);
  });
}

/** Percent-encodes each segment of an ID or a path. */
export function encodePath(id: string): string {
  return id.split('/').map(encodeURIComponent).join('/');
}

async function readError(response: Response): Promise<ReturnType<typeof parseErrorDetails>> {
  const details = parseErrorDetails(tryParseJson(await response.text().catch(() => '')), response.status);
  const retryAfterSeconds = Number(response.headers.get('retry-after') ?? Number.NaN);
  return { ...details, ...(retryAfterSeconds > 0 && { retryAfterSeconds }), ...readRequestId(response) };
}

/** Returns the request ID that the logs of the service contain. */
export function readRequestId(response: Response | undefined): { readonly requestId?: string } {
  const requestId = response?.headers.get('x-request-id');
  return requestId == null ? {} : { requestId };
}
