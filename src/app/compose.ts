import { randomBytes, randomUUID } from 'node:crypto';
import fastify, { type FastifyInstance } from 'fastify';
import type { Clock } from '#base/clock.ts';
import type { HttpClient } from '#base/http/client.ts';
import { createAnswer } from '#dispatch/answer.ts';
import { createComplete } from '#dispatch/complete.ts';
import { createEmbed } from '#dispatch/embed.ts';
import { Balance } from '#domain/balance.ts';
import type { Directory } from '#domain/directory.ts';
import type { Embedder } from '#domain/embedder.ts';
import { createIdentify } from '#domain/identify.ts';
import type { Telemetry } from '#domain/telemetry.ts';
import type { ChatProtocol, ProtocolName } from '#domain/upstream.ts';
import { MemoryPerRequestKeys } from '#stores/memory/per-request-keys.ts';
import { compatRoutes } from '#surfaces/compat/routes.ts';
import { Door } from '#surfaces/http/door.ts';
import { answerErrors } from '#surfaces/http/on-error.ts';
import { OpenCalls } from '#surfaces/http/open-calls.ts';
import { listingRoutes } from '#surfaces/listings/routes.ts';
import { createDemoProtocol } from '#upstreams/demo/demo-protocol.ts';
import { createOpenAiProtocol } from '#upstreams/openai/openai-protocol.ts';
import { withChoices } from '#upstreams/with-choices.ts';
import { withFunctions } from '#upstreams/with-functions.ts';

const demoPaceMs = 15;

export interface ServiceParts {
  readonly directory: () => Directory;
  readonly http: HttpClient;
  readonly embedder: Embedder;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
}

export interface Service {
  readonly app: FastifyInstance;
  readonly openCalls: OpenCalls;
  readonly balance: Balance;
}

/** Builds everything a node serves out of its parts; listens to nothing yet. */
export function composeService(parts: ServiceParts): Service {
  const { directory, clock, telemetry } = parts;
  const openCalls = new OpenCalls();
  const balance = new Balance();
  const perRequestKeys = new MemoryPerRequestKeys(() => randomBytes(32).toString('base64url'));
  const identify = createIdentify(directory, perRequestKeys);
  const answerTools = { balance, clock, protocols: composeProtocols(parts), perRequestKeys };
  const complete = createComplete({ directory, clock, answer: createAnswer(answerTools) });
  const embed = createEmbed({ ...answerTools, directory });
  const app = fastify({ routerOptions: { maxParamLength: 4096 } });
  const maxBodyBytes = () => directory().configuration.security.maxBodyBytes;
  const door = new Door({ clock, newId: randomUUID, identify, maxBodyBytes, openCalls, telemetry });
  const prefixes = ['compat', ...directory().configuration.aliases.compat];
  answerErrors(app, () => undefined);
  compatRoutes(app, { door, complete, embed, prefixes });
  listingRoutes(app, { directory, identify, prefixes, createdSeconds: Math.floor(clock.epochMs() / 1000) });
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
