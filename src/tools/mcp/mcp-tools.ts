import type { Tool as ListedTool } from '@modelcontextprotocol/client';
import type { BoundedCacheOptions, Caches } from '#base/cache/bounded-cache.ts';
import { type Expiring, ExpiringCache, expiringBytes } from '#base/cache/expiring-cache.ts';
import type { Fetch } from '#base/net/guarded-fetch.ts';
import { untilAborted } from '#base/stream/until-aborted.ts';
import type { Clock } from '#base/time/clock.ts';
import type { McpToolsetSettings } from '#domain/quick-app/quick-app.ts';
import type { LoadedTools, MissingToolset, ToolsetSurvey } from '#domain/tools/tool.ts';
import { createAuthorizer, withFixedHeaders } from '../authorization/authorizer.ts';
import type { TokenCache } from '../authorization/token-cache.ts';
import { isLeftOut } from './loose-replies.ts';
import { createMcpTool, createResourceTools, isAllowed } from './mcp-tool.ts';
import { hashOf, MuteServers, muteBounds, Revisions, revisionBounds } from './server-caches.ts';
import { serverFault } from './server-fault.ts';
import { listServer, listStarters, type ServerListing, toSurvey } from './server-listing.ts';
import { Session } from './session.ts';

const idleMs = 300_000;
const failureFreshMs = 10_000;
/** How long nobody waits for a server that said nothing in time. */
const muteMs = 60_000;
const maxSessions = 1000;
const maxListBytes = 16 * 1024 ** 2;
const maxStarterBytes = 4 * 1024 ** 2;
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

interface LoadedMcpTools extends LoadedTools {
  /** Names of `allowed_tools` that the server does not have. */
  readonly unknownNames: readonly string[];
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
  readonly #lists: ExpiringCache<ServerListing>;
  readonly #starters: ExpiringCache<readonly string[]>;
  readonly #mute: MuteServers;
  readonly #sessions = new Map<string, Session>();

  constructor(clock: Clock, caches: Caches) {
    this.#clock = clock;
    this.#revisions = new Revisions(caches.open('mcp_revisions', revisionBounds), clock);
    this.#mute = new MuteServers(caches.open('mcp_mute', muteBounds), { clock, muteMs });
    this.#lists = new ExpiringCache({ clock, kept: caches.open('mcp_tools', boundsOf(maxListBytes)), failureFreshMs });
    this.#starters = new ExpiringCache({ clock, kept: caches.open('mcp_starters', boundsOf(maxStarterBytes)), failureFreshMs });
  }

  /** The allowed tools of a server, by name, with what it says of them, and what of it was left out. Rejects with ToolFault if they cannot be had, or with the signal's reason. */
  async load(
    settings: McpToolsetSettings,
    network: McpNetwork,
    { signal, subject, application }: McpUser,
  ): Promise<LoadedMcpTools> {
    const key = hashOf([subject, application, settings, network.rules]);
    const session = (): Session => this.#session(key, settings, network);
    const current = session();
    const listing = this.#lists.get(`${key} ${current.listChanges}`, () =>
      this.#mute.guard(settings, () => listServer(settings, current, network)),
    );
    const { tools: listed, instructions, hasResources } = await untilAborted(listing, signal);
    const allowed = listed.filter(({ name }) => isAllowed(settings, name));
    if (allowed.length > maxTools)
      throw serverFault(
        settings.name,
        `has ${allowed.length} tools, of which ${maxTools} can be offered at most; allowed_tools picks some`,
      );
    const options = { settings, session, timeoutMs: network.timeoutMs };
    const own = allowed
      .filter((tool) => !isLeftOut(tool))
      .toSorted((one, other) => (one.name < other.name ? -1 : 1))
      .map((tool) => createMcpTool(tool, options));
    const wantsResources = settings.resources === true;
    // Behind its own, which keep their names.
    const tools = wantsResources && hasResources ? [...own, ...createResourceTools(options)] : own;
    return {
      tools,
      unknownNames: findUnknownNames(settings, [...listed, ...tools]),
      instructions: tools.length === 0 || instructions === '' ? [] : [{ toolset: settings.name, text: instructions }],
      missing: [
        ...toMissing(settings.name, allowed.filter(isLeftOut)),
        ...(wantsResources && !hasResources ? [missingResources(settings.name)] : []),
      ],
    };
  }

  /** Texts of a server that a conversation may begin with. Rejects with ToolFault, or with the signal's reason. */
  async starters(
    settings: McpToolsetSettings,
    network: McpNetwork,
    { signal, subject, application }: McpUser,
  ): Promise<readonly string[]> {
    const key = hashOf([subject, application, settings, network.rules]);
    const session = this.#session(key, settings, network);
    const listing = this.#starters.get(key, () => this.#mute.guard(settings, () => listStarters(settings, session, network)));
    return untilAborted(listing, signal);
  }

  /**
   * What a server offers now, whichever of its tools are allowed: asked anew, over a session of its own, whatever is known of it.
   * Rejects with ToolFault, or with the signal's reason.
   */
  async survey(settings: McpToolsetSettings, network: McpNetwork, signal: AbortSignal): Promise<ToolsetSurvey> {
    const session = this.#makeSession('', settings, network);
    try {
      const { value } = await untilAborted(listServer(settings, session, network), signal);
      this.#mute.forget(settings);
      return await session.use(signal, async ({ mask }) => toSurvey(value.tools, mask));
    } finally {
      void session.close();
    }
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

function findUnknownNames({ allowedTools }: McpToolsetSettings, tools: readonly { readonly name: string }[]): readonly string[] {
  if (allowedTools === undefined) return [];
  const names = new Set(tools.map(({ name }) => name));
  return allowedTools.filter((name) => !names.has(name));
}

function boundsOf<Value>(maxBytes: number): BoundedCacheOptions<Expiring<Value>> {
  return { maxBytes, bytesOf: expiringBytes((value) => bytesPerChar * JSON.stringify(value).length) };
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

function missingResources(server: string): MissingToolset {
  return { name: server, reason: serverFault(server, 'has no resources').message };
}
