import type { Caches } from '#base/cache/bounded-cache.ts';
import { createEntryCounter, ExpiringCache } from '#base/cache/expiring-cache.ts';
import { FairQueue } from '#base/isolation/fair-queue.ts';
import { IsolationError } from '#base/isolation/isolated-process.ts';
import { raceAbort } from '#base/stream/race-abort.ts';
import type { Clock } from '#base/time/clock.ts';
import type { AddonEntry, SecuritySettings } from '#contract/configuration/service.ts';
import { isHttpUrl } from '#contract/configuration/values.ts';
import { ParleyError } from '#contract/errors/errors.ts';
import { type LoadedTools, ToolError } from '#domain/tools/tool.ts';
import type { OpenApiReader } from '#tools/openapi/load-openapi.ts';
import type { OpenApiTools } from '#tools/openapi/to-rest-tools.ts';
import { createRestTools, type RestSources } from '#tools/rest/create-rest-tools.ts';

const documentTtlMs = 300_000;
const failureTtlMs = 10_000;
const maxLoadMs = 30_000;
const maxBytes = 16 * 1024 ** 2;
/** Estimated memory in bytes per character of a document's JSON. Parsed objects take more than their text. */
const bytesPerChar = 3;
/** Maximum number of documents that a user loads concurrently from addresses of the user's choice. */
const lanesPerUser = 4;
const maxWaitingPerLane = 32;
const maxUrlLength = 2048;
/** Maximum number of tools per request. Vendors reject a request with more. */
const maxTools = 128;

/** Dependencies of `AddonTools`. */
export interface AddonToolsDeps extends RestSources {
  readonly clock: Clock;
  readonly caches: Caches;
  readonly reader: OpenApiReader;
}

/** The user who sends the request, and the signal of the request. */
export interface AddonUser {
  readonly signal: AbortSignal;
  readonly subject: string;
}

/** One item of a request's `addons`: a name or an address (docs/wire.md, Chat request). */
export interface RequestedAddon {
  readonly name?: string;
  readonly url?: string;
}

/** Configured addons by name. */
export type Addons = Readonly<Record<string, AddonEntry>>;

/**
 * Loads the tools of a request's addons. Create one per process. Documents are cached for five minutes, failures for ten
 * seconds.
 */
export class AddonTools {
  readonly #deps: AddonToolsDeps;
  readonly #documents: ExpiringCache<OpenApiTools>;
  readonly #loads = new FairQueue({ slots: Number.POSITIVE_INFINITY, maxWaiting: maxWaitingPerLane });

  constructor(deps: AddonToolsDeps) {
    this.#deps = deps;
    const store = deps.caches.create('addon_documents', { maxBytes, countBytes: createEntryCounter(estimateDocumentBytes) });
    this.#documents = new ExpiringCache({ clock: deps.clock, store, failureTtlMs });
  }

  /** Loads the addons that `findAddons` returned. Rejects only with the reason of the signal. */
  async load(addons: readonly NamedAddon[], user: AddonUser): Promise<LoadedTools> {
    const loaded = await Promise.all(addons.map((addon, index) => this.#loadAddon(addon, index, user)));
    const tools = loaded.flatMap((addon) => addon.tools);
    const missing = loaded.flatMap((addon) => addon.missing);
    if (tools.length <= maxTools) return { tools, missing };
    const reason = `A model supports at most ${maxTools} tools. ${tools.length - maxTools} of ${tools.length} tools were left out.`;
    return { tools: tools.slice(0, maxTools), missing: [...missing, { name: 'Addons', reason }] };
  }

  async #loadAddon(addon: NamedAddon, index: number, { signal, subject }: AddonUser): Promise<LoadedTools> {
    const { name, entry, isConfigured } = addon;
    const owner = isConfigured ? `addon ${entry.url}` : subject;
    const lane = isConfigured ? owner : `${subject} ${index % lanesPerUser}`;
    const displayName = entry.displayName ?? name;
    try {
      const document = await raceAbort(this.#document(entry.url, { owner, lane }), signal);
      const tools = createRestTools(document.tools, entry.authorization, this.#deps);
      return { tools, missing: tools.length > 0 ? [] : [{ name: displayName, reason: formatNoToolsReason(document) }] };
    } catch (error) {
      signal.throwIfAborted();
      const detail = error instanceof ToolError || error instanceof IsolationError ? `: ${error.message}` : '';
      return { tools: [], missing: [{ name: displayName, reason: `The addon cannot be loaded${detail}.` }] };
    }
  }

  /** Loads a document. Loads of one lane wait for each other. Owners do not share cached documents, so no owner delays another. */
  #document(url: string, { owner, lane }: { readonly owner: string; readonly lane: string }): Promise<OpenApiTools> {
    const { http, reader, limits } = this.#deps;
    const source = {
      http,
      reader,
      owner,
      connectMs: limits.connectMs,
      timeoutMs: Math.min(limits.timeoutMs, maxLoadMs),
    };
    const load = async (): Promise<OpenApiTools> => {
      const { loadOpenApi } = await import('#tools/openapi/load-openapi.ts');
      return loadOpenApi(new URL(url), source);
    };
    return this.#documents.get(`${owner} ${url}`, async () => {
      return { value: await this.#loads.run(lane, load), ttlMs: documentTtlMs };
    });
  }
}

function estimateDocumentBytes({ tools, schemes, security }: OpenApiTools): number {
  return bytesPerChar * JSON.stringify([tools, schemes, [...security.values()]]).length;
}

/** An addon of a request. */
export interface NamedAddon {
  readonly name: string;
  readonly entry: AddonEntry;
  /** Whether the configuration has the address. Otherwise the client chose it. */
  readonly isConfigured: boolean;
}

/** The part of a configuration that decides which addons a request may name. */
export interface AddonRules {
  readonly addons: Addons;
  readonly security: Pick<SecuritySettings, 'addonUrls'>;
}

/**
 * Returns the addons that a request names, each once. An address that is not configured is called without credentials. Throws
 * `unknown_addon` for a name that is not configured, and for an address that is invalid or that `security.addonUrls` does not
 * allow.
 */
export function findAddons(rules: AddonRules, requested: readonly RequestedAddon[]): NamedAddon[] {
  const addonsByName = new Map<string, NamedAddon>();
  for (const [index, { name, url }] of requested.entries()) {
    const addon = name === undefined ? findByUrl(rules, url ?? '') : findByName(rules.addons, name);
    if (typeof addon === 'string') throw new ParleyError('unknown_addon', addon, { param: `addons[${index}]` });
    addonsByName.set(addon.name, addon);
  }
  return [...addonsByName.values()];
}

/** Returns the addon, or the reason why it is not available. */
function findByName(addons: Addons, name: string): NamedAddon | string {
  const entry = Object.hasOwn(addons, name) ? addons[name] : undefined;
  return entry === undefined ? `There is no addon named ${name.slice(0, 100)}.` : { name, entry, isConfigured: true };
}

/** Returns the addon, or the reason why it is not available. */
function findByUrl({ addons, security }: AddonRules, text: string): NamedAddon | string {
  if (text.length > maxUrlLength) return `The address of an addon must be at most ${maxUrlLength} characters long.`;
  const url = isHttpUrl(text) ? URL.parse(text) : null;
  if (url === null || url.username !== '' || url.password !== '')
    return 'The address of an addon must be an http or https address without credentials.';
  const { href } = url;
  const configured = Object.entries(addons).find(([, entry]) => URL.parse(entry.url)?.href === href);
  if (configured !== undefined) return { name: configured[0], entry: configured[1], isConfigured: true };
  if (security.addonUrls === 'guarded') return { name: href, entry: { url: href, displayName: url.host }, isConfigured: false };
  return 'No configured addon has this url, and security.addonUrls does not allow other addresses.';
}

function formatNoToolsReason({ skipped }: OpenApiTools): string {
  const [first] = skipped;
  const detail = first === undefined ? '' : `. For example, ${first.name} was left out: ${first.reason}`;
  return `The addon's document has no usable operation${detail}.`;
}
