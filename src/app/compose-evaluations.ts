import { randomUUID } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { createLetterIds } from '#base/letter-id.ts';
import type { InnerCalls } from '#calls/inner-calls.ts';
import type { Identify } from '#domain/callers/identify.ts';
import { NodeLife } from '#domain/responses/node-life.ts';
import type { EvaluationAsk } from '#runtime/evaluation/evaluation-deps.ts';
import { EvaluationRuns } from '#runtime/evaluation/evaluation-runs.ts';
import { caseRoutes } from '#surfaces/applications/evaluation/case-routes.ts';
import { evaluationRoutes } from '#surfaces/applications/evaluation/evaluation-routes.ts';
import type { InFlightCalls } from '#surfaces/http/in-flight-calls.ts';
import type { CompleteServiceDeps } from './compose-line.ts';

interface Behind {
  readonly identify: Identify;
  readonly innerCalls: InnerCalls;
  readonly inFlightCalls: InFlightCalls;
}

const noTrace = { traceparent: undefined, tracestate: undefined };

/** Builds what runs evaluations, and its routes; nothing where none are kept. */
export function composeEvaluations(app: FastifyInstance, parts: CompleteServiceDeps, behind: Behind): void {
  if (parts.evaluations === undefined) return;
  const { snapshot, clock, noteFault, noteAudit } = parts;
  const { identify, innerCalls, inFlightCalls } = behind;
  const { store: results, leases, isShared } = parts.evaluations;
  const newId = createLetterIds();
  const ask = ({ request, signal, ...call }: EvaluationAsk) =>
    innerCalls.call({ call: { id: newId(), ...call }, trace: noTrace, request, signal });
  const life = new NodeLife({ runs: leases, node: randomUUID(), clock });
  const running = { snapshot, clock, ask, store: results, noteFault };
  const evaluations = new EvaluationRuns({ ...running, life, inFlightCalls, newId, isShared });
  app.addHook('onClose', () => evaluations.close());
  const deps = { snapshot, identify, store: parts.stores.applications, clock, noteAudit, evaluations, results, newId };
  caseRoutes(app, deps);
  evaluationRoutes(app, deps);
}
