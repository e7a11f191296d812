import type { Tool as ListedTool } from '@modelcontextprotocol/client';
import type { BoundedCache, BoundedCacheOptions, Caches } from '#base/cache/bounded-cache.ts';
import { createEntryCounter, ExpiringCache, type ExpiringEntry } from '#base/cache/expiring-cache.ts';
import type { Fetch } from '#base/net/guarded-fetch.ts';
import { raceAbort } from '#base/stream/race-abort.ts';
import type { Clock } from '#base/time/clock.ts';
import type { McpToolsetSettings } from '#domain/quick-app/quick-app.ts';
import type { LoadedTools, MissingToolset, ToolsetSurvey } from '#domain/tools/tool.ts';
import { addFixedHeaders, createAuthorizer } from '../authorization/authorizer.ts';
import type { TokenCache } from '../authorization/token-cache.ts';
import { createMcpTool, createResourceTools, isAllowed } from './mcp-tool.ts';
import { isOmitted } from './normalize-replies.ts';
import { computeHash, Revisions, UnresponsiveServers } from './server-caches.ts';
import { createServerError } from './server-error.ts';
import { listServer, listStarters, maxTools, type ServerListing, sortCallable, toSurvey } from './server-listing.ts';
import { Session } from './session.ts';

const idleMs = 300_000;
const failureTtlMs = 10_000;
const maxSessions = 1000;
const maxListBytes = 16 * 1024 ** 2;
const maxStarterBytes = 4 * 1024 ** 2;
/** Estimated memory in bytes per character of JSON. Parsed objects take more than their text. */
const bytesPerChar = 3;
/** Maximum number of names of omitted tools in a message. */
const maxListedNames = 10;
const maxNameChars = 100;

/** Network settings for servers under one configuration. */
export interface McpNetwork {
  /** `fetch` with a network guard. */
  readonly fetch: Fetch;
  readonly tokens: TokenCache;
  /** Maximum number of milliseconds that a server may be silent. */
  readonly timeoutMs: number;
  /** Maximum number of milliseconds until the first response of a server. */
  readonly connectMs: number;
  /** Maximum number of milliseconds from then until the server has listed its tools. */
  readonly listMs: number;
  /** Identifies these settings. Part of the session key. */
  readonly rules: string;
}

interface LoadedMcpTools extends LoadedTools {
  /** Names in `allowed_tools` that the server does not have. */
  readonly unknownNames: readonly string[];
}

/** The user and the application that tools are loaded for, and the signal of the request. */
export interface McpLoadContext {
  readonly signal: AbortSignal;
  /** User subject. Sessions contain server state, so users never share one. */
  readonly subject: string;
  /** ID of the quick app. Applications do not share sessions. */
  readonly application: string;
}

/**
 * Loads the tools of MCP servers. A session belongs to one user, one application, and one toolset with all its settings,
 * including credentials. It closes after five minutes without use. Create one per process.
 */
export class McpTools {
  readonly #clock: Clock;
  readonly #revisions: Revisions;
  readonly #lists: ExpiringCache<ServerListing>;
  readonly #listStore: BoundedCache<ExpiringEntry<ServerListing>>;
  readonly #starters: ExpiringCache<readonly string[]>;
  readonly #unresponsive: UnresponsiveServers;
  readonly #sessions = new Map<string, Session>();

  constructor(clock: Clock, caches: Caches) {
    this.#clock = clock;
    this.#revisions = new Revisions(caches, clock);
    this.#unresponsive = new UnresponsiveServers(caches, clock);
    this.#listStore = caches.create('mcp_tools', createBounds<ServerListing>(maxListBytes));
    const starterStore = caches.create('mcp_starters', createBounds<readonly string[]>(maxStarterBytes));
    this.#lists = new ExpiringCache({ clock, store: this.#listStore, failureTtlMs });
    this.#starters = new ExpiringCache({ clock, store: starterStore, failureTtlMs });
  }

  /**
   * Returns the allowed tools of a server, sorted by name, with its instructions and the omitted tools. Rejects with
   * `ToolError` if the tools are unavailable, or with the reason of the signal.
   */
  async load(
    settings: McpToolsetSettings,
    network: McpNetwork,
    { signal, subject, application }: McpLoadContext,
  ): Promise<LoadedMcpTools> {
    const key = computeHash([subject, application, settings, network.rules]);
    const getSession = (): Session => this.#getSession(key, settings, network);
    const current = getSession();
    const listing = this.#lists.get(key, () => this.#unresponsive.guard(settings, () => listServer(settings, current, network)));
    const { tools: listed, instructions, hasResources } = await raceAbort(listing, signal);
    const allowed = listed.filter(({ name }) => isAllowed(settings, name));
    if (allowed.length > maxTools) {
      const problem = `has ${allowed.length} tools, but at most ${maxTools} are supported. Select tools with allowed_tools`;
      throw createServerError(settings.name, problem);
    }
    const options = { settings, getSession, timeoutMs: network.timeoutMs };
    const ownTools = sortCallable(allowed).map((tool) => createMcpTool(tool, options));
    const wantsResources = settings.resources === true;
    // The server's own tools come first, so that they keep their names.
    const tools = wantsResources && hasResources ? [...ownTools, ...createResourceTools(options)] : ownTools;
    return {
      tools,
      unknownNames: findUnknownNames(settings, [...listed, ...tools]),
      instructions: tools.length === 0 || instructions === '' ? [] : [{ toolset: settings.name, text: instructions }],
      missing: [
        ...toMissing(settings.name, allowed.filter(isOmitted)),
        ...(wantsResources && !hasResources
          ? [{ name: settings.name, reason: createServerError(settings.name, 'has no resources').message }]
          : []),
      ],
    };
  }

  /** Returns conversation starters of a server. Rejects with `ToolError`, or with the reason of the signal. */
  async loadStarters(
    settings: McpToolsetSettings,
    network: McpNetwork,
    { signal, subject, application }: McpLoadContext,
  ): Promise<readonly string[]> {
    const key = computeHash([subject, application, settings, network.rules]);
    const session = this.#getSession(key, settings, network);
    const listing = this.#starters.get(key, () =>
      this.#unresponsive.guard(settings, () => listStarters(settings, session, network)),
    );
    return raceAbort(listing, signal);
  }

  /**
   * Returns the tools that a server currently offers, including tools that are not allowed. Ignores caches, and uses a separate
   * session. Rejects with `ToolError`, or with the reason of the signal.
   */
  async survey(settings: McpToolsetSettings, network: McpNetwork, signal: AbortSignal): Promise<ToolsetSurvey> {
    const session = this.#createSession('', settings, network);
    try {
      const { value } = await raceAbort(listServer(settings, session, network), signal);
      this.#unresponsive.forget(settings);
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

  #getSession(key: string, settings: McpToolsetSettings, network: McpNetwork): Session {
    const session = this.#sessions.get(key) ?? this.#createSession(key, settings, network);
    this.#sessions.delete(key);
    this.#sessions.set(key, session);
    if (this.#sessions.size > maxSessions) this.#closeOldest();
    return session;
  }

  #createSession(key: string, settings: McpToolsetSettings, { fetch, tokens, connectMs }: McpNetwork): Session {
    const { authorization } = settings;
    const headerAuthorization =
      authorization?.type === 'api_key' ? { ...authorization, location: 'header' as const } : authorization;
    return new Session({
      settings,
      fetch,
      connectMs,
      authorizer: addFixedHeaders(createAuthorizer(headerAuthorization, tokens), settings.headers),
      revisions: this.#revisions,
      clock: this.#clock,
      idleMs,
      onIdle: () => this.#drop(key),
      onToolsChanged: () => this.#listStore.delete(key),
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

function createBounds<Value>(maxBytes: number): BoundedCacheOptions<ExpiringEntry<Value>> {
  return { maxBytes, countBytes: createEntryCounter((value) => bytesPerChar * JSON.stringify(value).length) };
}

function toMissing(server: string, omittedTools: readonly ListedTool[]): MissingToolset[] {
  if (omittedTools.length === 0) return [];
  const names = omittedTools.slice(0, maxListedNames).map(({ name }) => name.slice(0, maxNameChars));
  const suffix = omittedTools.length > names.length ? ` and ${omittedTools.length - names.length} more` : '';
  const problem = `describes these tools in an invalid form, so they were left out: ${names.join(', ')}${suffix}`;
  return [{ name: server, reason: createServerError(server, problem).message }];
}
