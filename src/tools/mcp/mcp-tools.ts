import type { Tool as ListedTool } from '@modelcontextprotocol/client';
import type { Caches } from '#base/caches.ts';
import type { Clock } from '#base/clock.ts';
import { ExpiringCache, type ExpiringValue, expiringBytes } from '#base/expiring-cache.ts';
import type { Fetch } from '#base/guarded-fetch.ts';
import { untilAborted } from '#base/until-aborted.ts';
import type { McpToolsetSettings } from '#domain/quick-app/quick-app.ts';
import type { LoadedTools, MissingToolset } from '#domain/tools/tool.ts';
import { createAuthorizer, withFixedHeaders } from '../authorization/authorizer.ts';
import type { TokenCache } from '../authorization/token-cache.ts';
import { hashOf } from './hash-of.ts';
import { isLeftOut } from './loose-replies.ts';
import { createMcpTool, isAllowed } from './mcp-tool.ts';
import { MuteServers, muteBounds } from './mute-servers.ts';
import { Revisions, revisionBounds } from './revisions.ts';
import { MuteServerFault, serverFault, toServerFault } from './server-fault.ts';
import { Session } from './session.ts';

const idleMs = 300_000;
const listFreshMs = 60_000;
const longestFreshMs = 3_600_000;
const failureFreshMs = 10_000;
/** How long nobody waits for a server that said nothing in time. */
const muteMs = 60_000;
const maxSessions = 1000;
const maxListBytes = 16 * 1024 ** 2;
/** Objects take more than their text. */
const bytesPerChar = 3;
const maxTools = 512;
/** Of tools that were left out. */
const maxNamed = 10;
const longestName = 100;

/** How servers are reached under one configuration. */
export interface McpNetwork {
  /** Guarded. */
  readonly fetch: Fetch;
  readonly tokens: TokenCache;
  /** Milliseconds that a server may be silent. */
  readonly timeoutMs: number;
  /** Milliseconds until a server answered for the first time. */
  readonly connectMs: number;
  /** Milliseconds from then until it listed its tools. */
  readonly listMs: number;
  /** What decides on all that: sessions are kept apart by it. */
  readonly rules: string;
}

/** For whom tools are loaded. */
export interface McpUser {
  readonly signal: AbortSignal;
  /** User subject: servers keep state in a session, and nobody sees that of another. */
  readonly subject: string;
  /** Id of the quick app, whose session is its own as well. */
  readonly application: string;
}

/**
 * The tools of MCP servers. A session belongs to one user and one toolset with all its settings, credentials included; it is
 * kept while it is used, and five minutes longer. One for the process.
 */
export class McpTools {
  readonly #clock: Clock;
  readonly #revisions: Revisions;
  readonly #lists: ExpiringCache<readonly ListedTool[]>;
  readonly #mute: MuteServers;
  readonly #sessions = new Map<string, Session>();

  constructor(clock: Clock, caches: Caches) {
    this.#clock = clock;
    this.#revisions = new Revisions(caches.open('mcp_revisions', revisionBounds), clock);
    this.#mute = new MuteServers(caches.open('mcp_mute', muteBounds), { clock, muteMs });
    const bytesOf = expiringBytes((tools: readonly ListedTool[]) => bytesPerChar * JSON.stringify(tools).length);
    const kept = caches.open('mcp_tools', { maxBytes: maxListBytes, bytesOf });
    this.#lists = new ExpiringCache({ clock, kept, failureFreshMs });
  }

  /** The allowed tools of a server, by name, and what of them was left out. Rejects with ToolFault if they cannot be had, or with the signal's reason. */
  async load(settings: McpToolsetSettings, network: McpNetwork, { signal, subject, application }: McpUser): Promise<LoadedTools> {
    const key = hashOf([subject, application, settings, network.rules]);
    const session = (): Session => this.#session(key, settings, network);
    const current = session();
    const listing = this.#lists.get(`${key} ${current.listChanges}`, () =>
      this.#mute.guard(settings, () => list(settings, current, network)),
    );
    const listed = await untilAborted(listing, signal);
    const allowed = listed.filter(({ name }) => isAllowed(settings, name));
    if (allowed.length > maxTools)
      throw serverFault(
        settings.name,
        `has ${allowed.length} tools, of which ${maxTools} can be offered at most; allowed_tools picks some`,
      );
    const tools = allowed
      .filter((tool) => !isLeftOut(tool))
      .toSorted((one, other) => (one.name < other.name ? -1 : 1))
      .map((tool) => createMcpTool(tool, { settings, session, timeoutMs: network.timeoutMs }));
    return { tools, missing: toMissing(settings.name, allowed.filter(isLeftOut)) };
  }

  async close(): Promise<void> {
    const sessions = [...this.#sessions.values()];
    this.#sessions.clear();
    await Promise.all(sessions.map((session) => session.close()));
  }

  #session(key: string, settings: McpToolsetSettings, network: McpNetwork): Session {
    const session = this.#sessions.get(key) ?? this.#makeSession(key, settings, network);
    this.#sessions.delete(key);
    this.#sessions.set(key, session);
    if (this.#sessions.size > maxSessions) this.#closeOldest();
    return session;
  }

  #makeSession(key: string, settings: McpToolsetSettings, { fetch, tokens, connectMs }: McpNetwork): Session {
    const { authorization } = settings;
    const inHeader = authorization?.type === 'api_key' ? { ...authorization, location: 'header' as const } : authorization;
    return new Session({
      settings,
      fetch,
      connectingMs: connectMs,
      authorizer: withFixedHeaders(createAuthorizer(inHeader, tokens), settings.headers),
      revisions: this.#revisions,
      clock: this.#clock,
      idleMs,
      onIdle: () => this.#drop(key),
    });
  }

  #closeOldest(): void {
    const oldest = [...this.#sessions].find(([, session]) => !session.isBusy);
    if (oldest !== undefined) this.#drop(oldest[0]);
  }

  #drop(key: string): void {
    const session = this.#sessions.get(key);
    this.#sessions.delete(key);
    void session?.close();
  }
}

function toMissing(server: string, leftOut: readonly ListedTool[]): MissingToolset[] {
  if (leftOut.length === 0) return [];
  const names = leftOut.slice(0, maxNamed).map(({ name }) => name.slice(0, longestName));
  const more = leftOut.length > names.length ? ` and ${leftOut.length - names.length} more` : '';
  const { message: reason } = serverFault(
    server,
    `describes tools in a form that MCP does not have, which were left out: ${names.join(', ')}${more}`,
  );
  return [{ name: server, reason }];
}

async function list(
  settings: McpToolsetSettings,
  session: Session,
  { connectMs, listMs }: Pick<McpNetwork, 'connectMs' | 'listMs'>,
): Promise<ExpiringValue<readonly ListedTool[]>> {
  const whole = AbortSignal.timeout(connectMs + listMs);
  let listing = whole;
  try {
    return await session.use(whole, async ({ client }) => {
      if (client.getServerCapabilities()?.tools === undefined) return { value: [], freshMs: listFreshMs };
      listing = AbortSignal.timeout(listMs);
      const options = { signal: listing, timeout: listMs, cacheMode: 'bypass' as const };
      const { tools, ttlMs } = await client.listTools({}, options);
      return { value: tools, freshMs: typeof ttlMs === 'number' ? Math.min(Math.max(ttlMs, 0), longestFreshMs) : listFreshMs };
    });
  } catch (thrown) {
    if (listing.aborted || whole.aborted)
      throw new MuteServerFault(settings.name, `did not list its tools within ${listMs / 1000} s`, thrown);
    throw toServerFault(settings.name, thrown);
  }
}
