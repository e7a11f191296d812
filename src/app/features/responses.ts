import { randomUUID } from 'node:crypto';
import { createLetterIds } from '#base/text/letter-id.ts';
import { NodeLease } from '#services/node/node-lease.ts';
import { BackgroundRuns, type PrepareResponse } from '#services/responses/background-runs.ts';
import { DatabaseResponseStorage } from '#services/responses/database-response-storage.ts';
import { RunMaintenance } from '#services/responses/run-maintenance.ts';
import { UnconfirmedWrites } from '#services/responses/unconfirmed-writes.ts';
import { chatRunOperations } from '#surfaces/chat-completions/run-openapi.ts';
import { chatRunRoutes } from '#surfaces/chat-completions/run-routes.ts';
import { createRun } from '#surfaces/responses/create-run.ts';
import { responsesOperations } from '#surfaces/responses/openapi.ts';
import { type ResponsesDeps, responsesRoutes, serveCreate } from '#surfaces/responses/routes.ts';
import { conversationRoutes } from '#surfaces/responses/stored/conversation-routes.ts';
import { storedOperations } from '#surfaces/responses/stored/stored-openapi.ts';
import { storedRoutes } from '#surfaces/responses/stored/stored-routes.ts';
import type { Core, Feature } from '../service/feature.ts';

/** The Responses API and, if there is a store, stored responses, conversations, background responses, and chat runs. */
export const responses: Feature = {
  operations: ({ compat }) => [...responsesOperations(compat), ...storedOperations(compat), ...chatRunOperations],
  add(core) {
    const { app, handler, calls, stores, aliases, deploymentApis } = core;
    const stored = addStoredResponses(core);
    const deps = { ...stored, handler, calls, seal: stores.seal, newId: createLetterIds(), aliases: aliases.compat };
    responsesRoutes(app, deps);
    deploymentApis.responses = (exchange, route) => serveCreate(deps, exchange, route);
  },
};

/** Adds the routes of stored responses. Returns the dependencies that create stored responses. */
function addStoredResponses(core: Core): Pick<ResponsesDeps, 'storage' | 'background'> {
  if (core.responses === undefined) return {};
  const {
    app,
    clock,
    reportError,
    telemetry,
    snapshot,
    stores,
    broadcast,
    identify,
    calls,
    inFlightCalls,
    inputMemory,
    hasLostAccess,
  } = core;
  const { responses, conversations, isShared } = core.responses;
  const aliases = core.aliases.compat;
  const newId = createLetterIds();
  const lease = new NodeLease({ leases: responses.runs, node: randomUUID(), clock });
  const unconfirmed = new UnconfirmedWrites(clock);
  const startingWrites = new Map<string, Promise<unknown>>();
  const storage = new DatabaseResponseStorage({
    responses,
    conversations,
    lease,
    clock,
    newId,
    reportError,
    startingWrites,
    unconfirmed,
    inputMemory,
  });
  const { maxBackgroundRunMs: maxRunMs } = core;
  const prepare: PrepareResponse = (target, start) => createRun({ seal: stores.seal, newId, clock }, target, start);
  const runs = new BackgroundRuns({
    calls,
    prepare,
    newId,
    telemetry,
    clock,
    storage,
    responses,
    lease,
    inFlightCalls,
    ...(maxRunMs !== undefined && { maxRunMs }),
  });
  const runMaintenance = new RunMaintenance({ responses, runs, lease, clock, unconfirmed, isShared, reportError });
  app.addHook('onClose', () => runMaintenance.close());
  broadcast?.onNotice(({ topic, text }) => {
    if (topic === 'response') runMaintenance.checkRun(text);
  });
  // If a node misses the notice, it finds the ended response when it reads the store.
  const notifyEnded = (id: string): void => void broadcast?.publish({ topic: 'response', text: id }).catch(() => undefined);
  storedRoutes(app, { identify, responses, runs, clock, aliases, notifyEnded, startingWrites, hasLostAccess });
  chatRunRoutes(app, { ...core, runs, responses, notifyEnded });
  conversationRoutes(app, { identify, snapshot, conversations, responses, clock, newId, aliases, inputMemory });
  return { storage, background: { runs, responses } };
}
