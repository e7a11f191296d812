import { type Fetch, withinBytes } from '#base/net/guarded-fetch.ts';
import type { McpToolsetSettings } from '#domain/quick-app/quick-app.ts';
import { ToolFault } from '#domain/tools/tool.ts';
import type { Authorizer, Credentials } from '../authorization/authorizer.ts';
import { secretsIn, withoutSecrets } from '../authorization/masking.ts';
import { ForgottenSessionFault, reportsForgottenSession } from './forgotten-session.ts';
import { ServerDeadlines } from './server-deadlines.ts';
import { serverFault, toServerFault } from './server-fault.ts';

const maxReplyBytes = 16 * 1024 * 1024;
const maxReasonBytes = 4096;

export interface ServerFetchOptions {
  readonly settings: McpToolsetSettings;
  /** Guarded. */
  readonly fetch: Fetch;
  readonly authorizer: Authorizer;
  /** Milliseconds that credentials may take, which may come from another server. */
  readonly maxCredentialsMs: number;
  /** Called when an answer is too large; the SDK would ask for it again and again. */
  readonly onTooLarge: (fault: ToolFault) => void;
}

/** What the requests to one server go through: it adds the credentials, bounds the answers and knows what must not be shown. */
export class ServerFetch {
  /** The time limits of the server, which do not count the wait for credentials. */
  readonly deadlines = new ServerDeadlines();
  readonly #options: ServerFetchOptions;
  readonly #origin: string;
  #secrets: readonly string[];
  /** Why the last request that got no answer to read did not, which the SDK may not tell. */
  fault: ToolFault | undefined;

  constructor(options: ServerFetchOptions) {
    this.#options = options;
    this.#origin = new URL(options.settings.url).origin;
    this.#secrets = secretsOf(options.settings.authorization);
  }

  /** A 401 is asked again once, if new credentials may be had. Credentials go to the origin of the configured address only. */
  readonly fetch: Fetch = async (url, init = {}) => {
    if (new URL(url).origin !== this.#origin) return this.#bounded(await this.#send(url, init));
    const { authorizer } = this.#options;
    let credentials = await this.#credentials(init.signal ?? undefined);
    let response = await this.#send(url, { ...init, headers: withCredentials(init, credentials) });
    if (await this.#refusesSession(init, response)) {
      await response.body?.cancel();
      throw new ForgottenSessionFault(this.#options.settings.name, response.status);
    }
    if (response.status === 401 && authorizer.refused(credentials)) {
      await response.body?.cancel();
      credentials = await this.#credentials(init.signal ?? undefined);
      response = await this.#send(url, { ...init, headers: withCredentials(init, credentials) });
    }
    if (response.status === 401 || response.status === 403) throw await this.#refusal(response);
    return this.#bounded(response);
  };

  /** The text without the credentials, which a server may echo. */
  readonly mask = (text: string): string => withoutSecrets(text, this.#secrets);

  async #send(url: string | URL, init: RequestInit): Promise<Response> {
    try {
      return await this.#options.fetch(url, init);
    } catch (thrown) {
      init.signal?.throwIfAborted();
      throw this.#remembered(toServerFault(this.#options.settings.name, thrown, ['could not be reached', 'unreachable']));
    }
  }

  #remembered(fault: ToolFault): ToolFault {
    this.fault = fault;
    return fault;
  }

  async #credentials(signal = new AbortController().signal): Promise<Credentials> {
    const { authorizer, settings, maxCredentialsMs } = this.#options;
    const timeUp = AbortSignal.timeout(maxCredentialsMs);
    try {
      const credentials = await this.deadlines.pauseDuring(() => authorizer.credentials(AbortSignal.any([signal, timeUp])));
      this.#secrets = [...secretsOf(settings.authorization), ...secretsIn(credentials)];
      return credentials;
    } catch (thrown) {
      signal.throwIfAborted();
      if (!(thrown instanceof ToolFault || timeUp.aborted)) throw thrown;
      const reason = thrown instanceof ToolFault ? thrown.message : `no token was given within ${maxCredentialsMs / 1000} s`;
      throw this.#remembered(serverFault(settings.name, [`could not be called: ${reason}`, 'credentials_refused'], thrown));
    }
  }

  /** Some servers answer 401 or 403 with a text where MCP requires 404. A challenge means the credentials. */
  async #refusesSession({ headers }: RequestInit, response: Response): Promise<boolean> {
    const mayRefuse = (response.status === 401 || response.status === 403) && !response.headers.has('www-authenticate');
    if (!mayRefuse || !new Headers(headers).has('mcp-session-id')) return false;
    const text = await withinBytes(response.clone(), maxReasonBytes, () => undefined)
      .text()
      .catch(() => '');
    return reportsForgottenSession(text);
  }

  async #refusal({ body, status, headers }: Response): Promise<ToolFault> {
    await body?.cancel();
    const { name, authorization } = this.#options.settings;
    const isUnknown = status === 401 && authorization === null;
    const refused = status === 401 ? 'refused its configured credentials' : 'denied access';
    const what = `${isUnknown ? 'asks for credentials, and none are configured' : refused} (HTTP ${status})`;
    // As servers do whose users sign in (RFC 9728).
    const wantsSignIn = isUnknown && /\bresource_metadata\s*=/i.test(headers.get('www-authenticate') ?? '');
    const reason = wantsSignIn ? 'sign_in_required' : isUnknown ? 'credentials_missing' : 'credentials_refused';
    return this.#remembered(serverFault(name, [what, reason]));
  }

  #bounded(response: Response): Response {
    const { settings, onTooLarge } = this.#options;
    return withinBytes(response, maxReplyBytes, (cause) =>
      onTooLarge(serverFault(settings.name, `answered with more than ${maxReplyBytes / 1024 / 1024} MiB`, cause)),
    );
  }
}

function withCredentials({ headers }: RequestInit, credentials: Credentials): Headers {
  const all = new Headers(headers);
  for (const [name, value] of Object.entries(credentials.headers)) all.set(name, value);
  return all;
}

function secretsOf(authorization: McpToolsetSettings['authorization']): string[] {
  switch (authorization?.type) {
    case 'api_key':
      return [authorization.key];
    case 'basic':
      return [authorization.password];
    case 'bearer':
      return [authorization.token];
    case 'client_id_secret':
      return [authorization.client_secret];
    default:
      return [];
  }
}
