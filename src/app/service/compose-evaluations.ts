import { randomUUID } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import type { EvaluationAsk } from '#agent/evaluation/evaluation-deps.ts';
import { EvaluationRuns } from '#agent/evaluation/evaluation-runs.ts';
import { createLetterIds } from '#base/text/letter-id.ts';
import type { Identify } from '#domain/callers/identify.ts';
import { NodeLife } from '#domain/responses/node-life.ts';
import type { InnerCalls } from '#pipeline/inner-calls.ts';
import { caseRoutes } from '#surfaces/applications/evaluation/case-routes.ts';
import { evaluationRoutes } from '#surfaces/applications/evaluation/evaluation-routes.ts';
import type { InFlightCalls } from '#surfaces/http/in-flight-calls.ts';
import type { CompleteServiceDeps } from './compose-calls.ts';

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
