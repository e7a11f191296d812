import { tryParseJson } from '#base/json/json.ts';
import type { Credentials, Shown } from './credentials.ts';
import { faultOf, ServiceFault, toFault } from './fault.ts';
import { Reachability } from './reachability.ts';
import { isServicePath, toReferencePath } from './service-path.ts';

export interface ServiceRequest {
  readonly method?: string;
  readonly body?: unknown;
  /** In place of a body: text, whose type is among the headers. */
  readonly text?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

/** Who sends a file. */
interface Watching {
  readonly onProgress: (share: number) => void;
  readonly signal: AbortSignal;
}

/** The service behind the page, asked with the credentials of the one who signed in. */
export class Service {
  readonly reach = new Reachability();
  readonly #credentials: Credentials;

  constructor(credentials: Credentials) {
    this.#credentials = credentials;
  }

  /** The whole answer. Throws ServiceFault for every status but 2xx, and where none comes. */
  async send(path: string, request: ServiceRequest = {}): Promise<Response> {
    if (!isServicePath(path)) refusePath();
    const shown = await this.#credentials.show();
    const first = await this.#ask(path, request, shown);
    const isRenewed = first.status === 401 && (await this.#credentials.renew(shown));
    const response = isRenewed ? await this.#ask(path, request, await this.#credentials.show()) : first;
    if (!response.ok) throw new ServiceFault(await readFault(response));
    return response;
  }

  /** The content of a file that a message refers to. Throws ServiceFault, also for a text that is no reference. */
  async sendReference(reference: string, request?: ServiceRequest): Promise<Response> {
    return this.send(toReferencePath(reference) ?? refusePath(), request);
  }

  async json(path: string, request?: ServiceRequest): Promise<unknown> {
    return tryParseJson(await (await this.send(path, request)).text());
  }

  async #ask(path: string, request: ServiceRequest, shown: Shown): Promise<Response> {
    const answer = ask(path, request, shown);
    answer.catch(() => request.signal?.aborted || this.reach.doubt());
    return answer;
  }

  /** Sends a file, telling how much of it has gone, from 0 to 1. */
  async upload(path: string, file: Blob, watching: Watching): Promise<unknown> {
    if (!isServicePath(path)) refusePath();
    const shown = await this.#credentials.show();
    try {
      return await put(path, file, { ...watching, shown });
    } catch (thrown) {
      const isRenewed = faultOf(thrown).status === 401 && (await this.#credentials.renew(shown));
      if (!isRenewed) throw thrown;
      return put(path, file, { ...watching, shown: await this.#credentials.show() });
    }
  }
}

/** Rejects a path with `..`. Other users write IDs and references, so credentials must not reach the path that `..` leads to. */
function refusePath(): never {
  throw new ServiceFault({ status: 404, code: 'route_not_found', message: '' });
}

function ask(path: string, { method = 'GET', body, text, headers, signal }: ServiceRequest, shown: Shown): Promise<Response> {
  return fetch(path, {
    method,
    headers: { ...headers, ...shown, ...(body !== undefined && { 'content-type': 'application/json' }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    ...(text !== undefined && { body: text }),
    ...(signal && { signal }),
    credentials: 'omit',
    cache: 'no-store',
    redirect: 'error',
  }).catch((thrown: unknown) => {
    signal?.throwIfAborted();
    throw new ServiceFault({ status: 0, code: 'connection_lost', message: '' }, thrown);
  });
}

function put(path: string, file: Blob, { onProgress, signal, shown }: Watching & { readonly shown: Shown }): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    const leave = (): void => request.abort();
    const fail = (): void => reject(new ServiceFault({ status: 0, code: 'connection_lost', message: '' }));
    if (signal.aborted) return fail();
    request.open('PUT', path);
    for (const [name, value] of Object.entries(shown)) request.setRequestHeader(name, value);
    request.setRequestHeader('content-type', file.type || 'application/octet-stream');
    request.upload.onprogress = ({ loaded, total }) => onProgress(total === 0 ? 0 : loaded / total);
    request.onerror = fail;
    request.onabort = fail;
    request.onloadend = () => signal.removeEventListener('abort', leave);
    request.onload = () => {
      const body = tryParseJson(request.responseText);
      if (request.status < 300) resolve(body);
      else reject(new ServiceFault(toFault(body, request.status)));
    };
    signal.addEventListener('abort', leave);
    request.send(file);
  });
}

/** An id of several segments in a path. */
export function inPath(id: string): string {
  return id.split('/').map(encodeURIComponent).join('/');
}

async function readFault(response: Response): Promise<ReturnType<typeof toFault>> {
  const fault = toFault(tryParseJson(await response.text().catch(() => '')), response.status);
  const retryAfterSeconds = Number(response.headers.get('retry-after') ?? Number.NaN);
  const requestId = response.headers.get('x-request-id');
  return { ...fault, ...(retryAfterSeconds > 0 && { retryAfterSeconds }), ...(requestId !== null && { requestId }) };
}
