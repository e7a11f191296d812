import { pump, pumpOne } from '#base/pump.ts';
import { untilAborted } from '#base/until-aborted.ts';
import type { Frame } from '#contract/frame.ts';
import { speaksMessages } from '#domain/upstreams/messages-upstream.ts';
import type { Ask, ChatProtocol, Upstream } from '#domain/upstreams/upstream.ts';
import { createClaudeOnVertex } from '../claude-on-vertex.ts';
import { dialects, type VendorName } from './dialect.ts';
import { embedTexts } from './embed-texts.ts';
import { lostFields } from './lost-fields.ts';
import { type OpenProvider, openProvider, type ProviderDeps } from './open-provider.ts';
import { PartReader } from './part-reader.ts';
import { readParts } from './read-parts.ts';
import { toCallOptions } from './to-call-options.ts';
import { toFault } from './to-fault.ts';
import { vendorTools } from './to-tools.ts';

export interface VendorDeps extends ProviderDeps {
  /** Called with each part of a request that its upstream's dialect has nothing for. */
  readonly noteLost?: (upstream: Upstream, what: string) => void;
}

/**
 * Upstreams of a vendor with a dialect of its own, spoken by the vendor's package of the AI SDK, which is loaded with the first
 * call. Asked for a stream always; tried once. A Claude behind Vertex needs none of them: it speaks the Messages dialect.
 */
export function createVendorProtocol(name: VendorName, deps: VendorDeps): ChatProtocol {
  const providers = new Providers(name, deps);
  const within = async <Result>(upstream: Upstream, signal: AbortSignal, work: Work<Result>): Promise<Result> => {
    let secrets = (): readonly string[] => [];
    const toThrown = (thrown: unknown): unknown => (signal.aborted ? signal.reason : toFault(thrown, secrets()));
    const run = async (): Promise<Result> => {
      const open = await providers.of(upstream);
      secrets = open.secrets;
      return await work(open.provider, toThrown);
    };
    try {
      return await untilAborted(run(), signal);
    } catch (thrown) {
      throw toThrown(thrown);
    }
  };
  const claude = createClaudeOnVertex(deps.http, deps.clock);
  return {
    hasChoices: false,
    chat(ask, reply) {
      const { upstream } = ask;
      if (speaksMessages(upstream)) return claude.chat(ask, reply);
      const work = (signal: AbortSignal) =>
        within(upstream, signal, (provider, toThrown) => open(name, { ask, signal, deps, provider, toThrown }));
      return pump(work, reply);
    },
    embed(ask, reply) {
      const { upstream } = ask;
      const work = (signal: AbortSignal) =>
        within(upstream, signal, (provider) => embedTexts(provider.embeddingModel(upstream.model), ask, signal));
      return pumpOne(work, reply);
    },
  };
}

type Work<Result> = (provider: OpenProvider['provider'], toThrown: (thrown: unknown) => unknown) => Promise<Result>;

interface Opening {
  readonly ask: Ask;
  readonly signal: AbortSignal;
  readonly deps: VendorDeps;
  readonly provider: OpenProvider['provider'];
  readonly toThrown: (thrown: unknown) => unknown;
}

/** Asks, and gives the reply once its head is there. */
async function open(name: VendorName, { ask, signal, deps, provider, toThrown }: Opening): Promise<AsyncIterable<Frame>> {
  const { upstream, request, headers } = ask;
  const { model } = upstream;
  const dialect = dialects[name];
  const noteLost = (what: string, field: string): void => {
    deps.noteLost?.(upstream, what);
    ask.noteIgnored?.([field]);
  };
  const options = toCallOptions(request, dialect, model);
  for (const field of [...lostFields(request, name), ...vendorTools(request)]) noteLost(field, field);
  const { stream } = await provider
    .languageModel(model)
    .doStream({ ...options, headers: { ...headers }, abortSignal: signal, includeRawChunks: true });
  const reader = new PartReader(dialect, Math.floor(deps.clock.epochMs() / 1000), model);
  return readParts(stream, { reader, toThrown, noteLost });
}

/** The providers of upstreams, opened once each; one that cannot be opened is tried anew. */
class Providers {
  readonly #name: VendorName;
  readonly #deps: VendorDeps;
  readonly #byUpstream = new WeakMap<Upstream, Promise<OpenProvider>>();

  constructor(name: VendorName, deps: VendorDeps) {
    this.#name = name;
    this.#deps = deps;
  }

  of(upstream: Upstream): Promise<OpenProvider> {
    const known = this.#byUpstream.get(upstream);
    if (known !== undefined) return known;
    const opening = openProvider(this.#name, upstream, this.#deps);
    this.#byUpstream.set(upstream, opening);
    opening.catch(() => this.#byUpstream.delete(upstream));
    return opening;
  }
}
