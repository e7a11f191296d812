import { randomUUID } from 'node:crypto';
import { createLetterIds } from '#base/text/letter-id.ts';
import { EvaluationRuns } from '#services/evaluation/evaluation-runs.ts';
import type { EvaluationRequest } from '#services/evaluation/run-case.ts';
import { NodeLease } from '#services/node/node-lease.ts';
import { caseRoutes } from '#surfaces/applications/evaluation/case-routes.ts';
import { evaluationRoutes } from '#surfaces/applications/evaluation/evaluation-routes.ts';
import { evaluationOperations } from '#surfaces/applications/evaluation/openapi.ts';
import type { Feature } from '../service/feature.ts';

/** Evaluations of applications: their cases, runs, and results. */
export const evaluations: Feature = {
  operations: () => evaluationOperations,
  add(core) {
    if (core.evaluations === undefined) return;
    const { app, clock, innerCalls } = core;
    const { store: results, leases, isShared } = core.evaluations;
    const newId = createLetterIds();
    const sendRequest = ({ request, signal, ...call }: EvaluationRequest) =>
      innerCalls.call({
        call: { id: newId(), ...call },
        trace: { traceparent: undefined, tracestate: undefined },
        request,
        signal,
      });
    const lease = new NodeLease({ leases, node: randomUUID(), clock });
    const runs = new EvaluationRuns({ ...core, sendRequest, store: results, lease, newId, isShared });
    app.addHook('onClose', () => runs.close());
    const deps = { ...core, store: core.stores.applications, evaluations: runs, results, newId };
    caseRoutes(app, deps);
    evaluationRoutes(app, deps);
  },
};
