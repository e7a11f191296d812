import { AlertDeliveries } from '#services/alerts/alert-deliveries.ts';
import { alertOperations, alertRoutes } from '#surfaces/admin/alert-routes.ts';
import type { Feature } from '../service/feature.ts';

/** Webhooks about limits. */
export const alerts: Feature = {
  operations: () => alertOperations,
  add({ app, alerts: alertDeps, counters, identify, http, snapshot, clock, reportError }) {
    if (alertDeps === undefined) return;
    const { store, onUndelivered } = alertDeps;
    const deliveries = new AlertDeliveries({ store, onUndelivered, http, snapshot, clock, reportError });
    counters.onThreshold((reached) => deliveries.record(reached));
    app.addHook('onClose', () => deliveries.close());
    alertRoutes(app, { identify, store, snapshot });
  },
};
