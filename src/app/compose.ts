import { randomBytes, randomUUID } from 'node:crypto';
import fastify, { type FastifyInstance } from 'fastify';
import type { Clock } from '#base/clock.ts';
import type { HttpClient } from '#base/http/client.ts';
import { createAdmit } from '#dispatch/admit.ts';
import { createAnswer } from '#dispatch/answer.ts';
import { createComplete } from '#dispatch/complete.ts';
import { createEmbed } from '#dispatch/embed.ts';
import { withAddons } from '#dispatch/with-addons.ts';
import { Balance } from '#domain/balance.ts';
import type { Directory } from '#domain/directory.ts';
import type { Embedder } from '#domain/embedder.ts';
import { createIdentify } from '#domain/identify.ts';
import { LimitCounters } from '#domain/limit-counters.ts';
import type { LimitStore } from '#domain/limit-store.ts';
import type { Telemetry } from '#domain/telemetry.ts';
import type { ChatProtocol, ProtocolName } from '#domain/upstream.ts';
import { MemoryLimitStore } from '#stores/memory/limit-store.ts';
import { MemoryPerRequestKeys } from '#stores/memory/per-request-keys.ts';
import { compatRoutes } from '#surfaces/compat/routes.ts';
import { answersToMalformed } from '#surfaces/http/answer-malformed.ts';
import { Door } from '#surfaces/http/door.ts';
import { answerErrors } from '#surfaces/http/on-error.ts';
import { OpenCalls } from '#surfaces/http/open-calls.ts';
import { callerRoutes } from '#surfaces/listings/caller-routes.ts';
import { listingRoutes } from '#surfaces/listings/routes.ts';
import { createDemoProtocol } from '#upstreams/demo/demo-protocol.ts';
import { createOpenAiProtocol } from '#upstreams/openai/openai-protocol.ts';
import { withChoices } from '#upstreams/with-choices.ts';
import { withFunctions } from '#upstreams/with-functions.ts';
import { createAddonTools } from './addon-tools.ts';

const demoPaceMs = 15;
/** Long enough for balancers in front, and a bound on slow heads and bodies. */
const serverOptions = { routerOptions: { maxParamLength: 4096 }, keepAliveTimeout: 75_000, requestTimeout: 300_000 };

export interface ServiceParts {
  readonly directory: () => Directory;
  readonly http: HttpClient;
  readonly embedder: Embedder;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
  /** Health of the upstreams, where others look at it too. */
  readonly balance?: Balance;
  /** Where it is counted what callers use of their limits. Absent: in this process. */
  readonly limitStore?: LimitStore;
  /** Hears of faults that callers are told nothing of. */
  readonly noteFault?: (message: string, thrown: unknown) => void;
  /** Served over TLS where given, in PEM. */
  readonly tls?: { readonly cert: Buffer; readonly key: Buffer };
  /** What else is to stand on every route; runs before any is registered. */
  readonly prepare?: (app: FastifyInstance) => void;
}

export interface Service {
  readonly app: FastifyInstance;
  readonly openCalls: OpenCalls;
  readonly balance: Balance;
}

/** Builds everything a node serves out of its parts; listens to nothing yet. */
export function composeService(parts: ServiceParts): Service {
  const { directory, clock, telemetry, balance = new Balance(), noteFault = () => undefined } = parts;
  const openCalls = new OpenCalls();
  const perRequestKeys = new MemoryPerRequestKeys(() => randomBytes(32).toString('base64url'));
  const identify = createIdentify(directory, perRequestKeys);
  const answerTools = { balance, clock, protocols: composeProtocols(parts), perRequestKeys };
  const answer = withAddons(createAnswer(answerTools), { addonTools: createAddonTools(clock), clock, noteFault });
  const counters = new LimitCounters(parts.limitStore ?? new MemoryLimitStore(), clock);
  const admit = createAdmit({ counters, clock, noteFault });
  const complete = createComplete({ directory, clock, admit, answer });
  const embed = createEmbed({ ...answerTools, directory, admit });
  const app: FastifyInstance = fastify({
    ...serverOptions,
    ...answersToMalformed(randomUUID),
    ...(parts.tls && { https: parts.tls }),
  });
  const maxBodyBytes = () => directory().configuration.security.maxBodyBytes;
  const door = new Door({ clock, newId: randomUUID, identify, maxBodyBytes, openCalls, telemetry });
  const prefixes = ['compat', ...directory().configuration.aliases.compat];
  answerErrors(app, { newId: randomUUID, noteFault: (error, id) => noteFault(`request ${id} failed`, error) });
  parts.prepare?.(app);
  compatRoutes(app, { door, complete, embed, prefixes });
  listingRoutes(app, { directory, identify, prefixes, createdSeconds: Math.floor(clock.epochMs() / 1000) });
  callerRoutes(app, { directory, identify, counters, clock });
  return { app, openCalls, balance };
}

function composeProtocols({ http, embedder, clock }: ServiceParts): Partial<Record<ProtocolName, ChatProtocol>> {
  const demo = createDemoProtocol({ embedder, now: () => clock.epochMs(), newId: randomUUID, paceMs: demoPaceMs });
  return {
    openai: withFunctions(createOpenAiProtocol(http, 'openai')),
    azure: withFunctions(createOpenAiProtocol(http, 'azure')),
    application: createOpenAiProtocol(http, 'application'),
    demo: withFunctions(withChoices(demo)),
  };
}
