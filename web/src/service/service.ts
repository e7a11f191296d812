import { tryParseJson } from '#base/json.ts';
import { ServiceFault, toFault } from './fault.ts';

export interface ServiceRequest {
  readonly method?: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

/** The service behind the page, asked with the key of the one who signed in. */
export class Service {
  readonly #key: string;

  constructor(key: string) {
    this.#key = key;
  }

  /** The whole answer. Throws ServiceFault for every status but 2xx, and where none comes. */
  async send(path: string, { method = 'GET', body, headers: more, signal }: ServiceRequest = {}): Promise<Response> {
    const headers: Record<string, string> = { ...more, 'api-key': this.#key };
    if (body !== undefined) headers['content-type'] = 'application/json';
    const response = await fetch(path, {
      method,
      headers,
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(signal && { signal }),
      credentials: 'omit',
      cache: 'no-store',
      redirect: 'error',
    }).catch((thrown: unknown) => {
      signal?.throwIfAborted();
      throw new ServiceFault({ status: 0, code: 'connection_lost', message: '' }, thrown);
    });
    if (!response.ok) throw new ServiceFault(await readFault(response));
    return response;
  }

  async json(path: string, request?: ServiceRequest): Promise<unknown> {
    return tryParseJson(await (await this.send(path, request)).text());
  }

  /** Sends a file, telling how much of it has gone, from 0 to 1. */
  upload(
    path: string,
    file: Blob,
    { onProgress, signal }: { onProgress: (share: number) => void; signal: AbortSignal },
  ): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const request = new XMLHttpRequest();
      const leave = (): void => request.abort();
      const fail = (): void => reject(new ServiceFault({ status: 0, code: 'connection_lost', message: '' }));
      request.open('PUT', path);
      request.setRequestHeader('api-key', this.#key);
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
