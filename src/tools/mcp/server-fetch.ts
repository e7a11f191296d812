import { type Fetch, limitBytes } from '#base/net/guarded-fetch.ts';
import type { McpToolsetSettings } from '#domain/quick-app/quick-app.ts';
import { ToolError } from '#domain/tools/tool.ts';
import {
  type Authorizer,
  type Credentials,
  listAuthorizationSecrets,
  listCredentialSecrets,
  maskSecrets,
} from '../authorization/authorizer.ts';
import { createServerError, ForgottenSessionError, reportsForgottenSession, toServerError } from './server-error.ts';

const maxReplyBytes = 16 * 1024 * 1024;
const maxReasonBytes = 4096;

export interface ServerFetchOptions {
  readonly settings: McpToolsetSettings;
  /** `fetch` with a network guard. */
  readonly fetch: Fetch;
  readonly authorizer: Authorizer;
  /** Maximum number of milliseconds for obtaining credentials, possibly from another server. */
  readonly maxCredentialsMs: number;
  /** Called when a response is too large. The SDK would request it again and again. */
  readonly onTooLarge: (error: ToolError) => void;
}

/** Sends the requests to one server. Adds credentials, limits the size of responses, and masks secrets. */
export class ServerFetch {
  /** Time limits of the server. They exclude the wait for credentials. */
  readonly deadlines = new ServerDeadlines();
  readonly #options: ServerFetchOptions;
  readonly #origin: string;
  #secrets: readonly string[];
  /** Error of the last failed request. The SDK does not always report it. */
  lastError: ToolError | undefined;

  constructor(options: ServerFetchOptions) {
    this.#options = options;
    this.#origin = new URL(options.settings.url).origin;
    this.#secrets = listAuthorizationSecrets(options.settings.authorization);
  }

  /**
   * Retries a 401 once if new credentials may be available. Credentials are sent only to the origin of the configured address.
   */
  readonly fetch: Fetch = async (url, init = {}) => {
    if (new URL(url).origin !== this.#origin) return this.#limitSize(await this.#send(url, init));
    const { authorizer } = this.#options;
    let credentials = await this.#getCredentials(init.signal ?? undefined);
    let response = await this.#send(url, { ...init, headers: addCredentials(init, credentials) });
    if (await this.#rejectsSession(init, response)) {
      await response.body?.cancel();
      throw new ForgottenSessionError(this.#options.settings.name, response.status);
    }
    if (response.status === 401 && authorizer.onRejected(credentials)) {
      await response.body?.cancel();
      credentials = await this.#getCredentials(init.signal ?? undefined);
      response = await this.#send(url, { ...init, headers: addCredentials(init, credentials) });
    }
    if (response.status === 401 || response.status === 403) throw await this.#createRejectionError(response);
    return this.#limitSize(response);
  };

  /** Masks the credentials, because a server may echo them. */
  readonly mask = (text: string): string => maskSecrets(text, this.#secrets);

  async #send(url: string | URL, init: RequestInit): Promise<Response> {
    try {
      return await this.#options.fetch(url, init);
    } catch (error) {
      init.signal?.throwIfAborted();
      throw this.#recordError(toServerError(this.#options.settings.name, error, ['could not be reached', 'unreachable']));
    }
  }

  #recordError(error: ToolError): ToolError {
    this.lastError = error;
    return error;
  }

  async #getCredentials(signal = new AbortController().signal): Promise<Credentials> {
    const { authorizer, settings, maxCredentialsMs } = this.#options;
    const timeout = AbortSignal.timeout(maxCredentialsMs);
    try {
      const credentials = await this.deadlines.pauseDuring(() => authorizer.getCredentials(AbortSignal.any([signal, timeout])));
      this.#secrets = [...listAuthorizationSecrets(settings.authorization), ...listCredentialSecrets(credentials)];
      return credentials;
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof ToolError || timeout.aborted)) throw error;
      const reason = error instanceof ToolError ? error.message : `cannot get a token within ${maxCredentialsMs / 1000} s`;
      throw this.#recordError(createServerError(settings.name, [`could not be called: ${reason}`, 'credentials_refused'], error));
    }
  }

  /**
   * Returns whether a 401 or 403 concerns only an unknown session. Some servers explain this in the text of the response,
   * although MCP requires 404. A challenge means that the credentials were rejected.
   */
  async #rejectsSession({ headers }: RequestInit, response: Response): Promise<boolean> {
    const isRejection = (response.status === 401 || response.status === 403) && !response.headers.has('www-authenticate');
    if (!isRejection || !new Headers(headers).has('mcp-session-id')) return false;
    const text = await limitBytes(response.clone(), maxReasonBytes)
      .text()
      .catch(() => '');
    return reportsForgottenSession(text);
  }

  async #createRejectionError({ body, status, headers }: Response): Promise<ToolError> {
    await body?.cancel();
    const { name, authorization } = this.#options.settings;
    const lacksCredentials = status === 401 && authorization === null;
    const rejection = status === 401 ? 'refused its configured credentials' : 'denied access';
    const problem = `${lacksCredentials ? 'requires credentials, but no credentials are configured' : rejection} (HTTP ${status})`;
    // Servers whose users sign in send this parameter (RFC 9728).
    const wantsSignIn = lacksCredentials && /\bresource_metadata\s*=/i.test(headers.get('www-authenticate') ?? '');
    const reason = wantsSignIn ? 'sign_in_required' : lacksCredentials ? 'credentials_missing' : 'credentials_refused';
    return this.#recordError(createServerError(name, [problem, reason]));
  }

  #limitSize(response: Response): Response {
    const { settings, onTooLarge } = this.#options;
    return limitBytes(response, maxReplyBytes, (cause) =>
      onTooLarge(createServerError(settings.name, `answered with more than ${maxReplyBytes / 1024 / 1024} MiB`, cause)),
    );
  }
}

function addCredentials({ headers }: RequestInit, credentials: Credentials): Headers {
  const merged = new Headers(headers);
  for (const [name, value] of Object.entries(credentials.headers)) merged.set(name, value);
  return merged;
}

/** Time limit of one request. It counts only the time that the request waits for the server. */
export interface ServerDeadline {
  /** Aborted when the server has used its full time. */
  readonly signal: AbortSignal;
  /** Stops counting permanently. */
  end(): void;
}

/**
 * The running time limits of one server. They pause while Parley waits for anything else, such as a token from another address.
 * A server counts as silent only after its full time.
 */
class ServerDeadlines {
  readonly #running = new Set<Countdown>();
  #waits = 0;

  /** Starts a time limit in milliseconds. */
  start(timeoutMs: number): ServerDeadline {
    const countdown = new Countdown(timeoutMs);
    if (this.#waits === 0) countdown.resume();
    this.#running.add(countdown);
    const end = (): void => {
      countdown.pause();
      this.#running.delete(countdown);
    };
    return { signal: countdown.signal, end };
  }

  /** Pauses all limits while `work` runs, because the server is not responsible for its duration. */
  async pauseDuring<Value>(work: () => Promise<Value>): Promise<Value> {
    this.#waits += 1;
    for (const countdown of this.#running) countdown.pause();
    try {
      return await work();
    } finally {
      this.#waits -= 1;
      if (this.#waits === 0) for (const countdown of this.#running) countdown.resume();
    }
  }
}

class Countdown {
  readonly #endController = new AbortController();
  #remainingMs: number;
  #resumedAtMs = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(timeoutMs: number) {
    this.#remainingMs = timeoutMs;
  }

  get signal(): AbortSignal {
    return this.#endController.signal;
  }

  resume(): void {
    this.#resumedAtMs = performance.now();
    const end = (): void => this.#endController.abort(new DOMException('The server did not answer in time.', 'TimeoutError'));
    this.#timer ??= setTimeout(end, this.#remainingMs).unref();
  }

  pause(): void {
    if (this.#timer === undefined) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#remainingMs = Math.max(0, this.#remainingMs - (performance.now() - this.#resumedAtMs));
  }
}
