import { randomUUID } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { createLetterIds } from '#base/text/letter-id.ts';
import type { Calls } from '#domain/call.ts';
import type { Identify } from '#domain/callers/identify.ts';
import { NodeLife } from '#domain/responses/node-life.ts';
import type { InFlightCalls } from '#surfaces/http/in-flight-calls.ts';
import { BackgroundRuns } from '#surfaces/responses/background/background-runs.ts';
import { RunKeeper } from '#surfaces/responses/background/run-keeper.ts';
import type { ResponsesDeps } from '#surfaces/responses/routes.ts';
import { conversationRoutes } from '#surfaces/responses/stored/conversation-routes.ts';
import { StoredKeeper } from '#surfaces/responses/stored/stored-keeper.ts';
import { type StoredRoutesDeps, storedRoutes } from '#surfaces/responses/stored/stored-routes.ts';
import { UnheardWrites } from '#surfaces/responses/stored/unheard-writes.ts';
import type { CompleteServiceDeps } from './compose-calls.ts';

interface Behind {
  readonly identify: Identify;
  readonly calls: Calls;
  readonly inFlightCalls: InFlightCalls;
  readonly hasEnded: StoredRoutesDeps['hasEnded'];
}

interface ComposedResponses {
  readonly surface: Pick<ResponsesDeps, 'keeper' | 'background'>;
  readonly addRoutes: (app: FastifyInstance, aliases: readonly string[]) => void;
}

/** Builds what keeps responses and conversations, and makes responses in the background; undefined where nothing is stored. */
export function composeResponses(parts: CompleteServiceDeps, behind: Behind): ComposedResponses | undefined {
  if (parts.responses === undefined) return undefined;
  const { clock, noteFault, telemetry, snapshot, stores, broadcast } = parts;
  const { responses, conversations, isShared } = parts.responses;
  const { identify, calls, inFlightCalls, hasEnded } = behind;
  const newId = createLetterIds();
  const life = new NodeLife({ runs: responses.runs, node: randomUUID(), clock });
  const unheard = new UnheardWrites(clock);
  const beginning = new Map<string, Promise<unknown>>();
  const keeper = new StoredKeeper({ responses, conversations, life, clock, newId, noteFault, beginning, unheard });
  const { seal } = stores;
  const { maxBackgroundRunMs: maxRunMs } = parts;
  const runs = new BackgroundRuns({
    ...{ calls, seal, newId, telemetry, clock, keeper, responses, life, inFlightCalls },
    ...(maxRunMs !== undefined && { maxRunMs }),
  });
  return {
    surface: { keeper, background: { runs, responses } },
    addRoutes(app, aliases) {
      const runKeeper = new RunKeeper({ responses, runs, life, clock, unheard, isShared, noteFault });
      app.addHook('onClose', () => runKeeper.close());
      broadcast?.onNotice(({ topic, text }) => {
        if (topic === 'response') runKeeper.lookAfter(text);
      });
      // Nodes that do not hear of it find out when they look.
      const tellEnded = (id: string): void => void broadcast?.publish({ topic: 'response', text: id }).catch(() => undefined);
      storedRoutes(app, { identify, responses, runs, clock, aliases, tellEnded, beginning, hasEnded });
      conversationRoutes(app, { identify, snapshot, conversations, responses, clock, newId, aliases });
    },
  };
}
