import { createHmac, hash } from 'node:crypto';
import { type HttpClient, HttpError } from '#base/http/client.ts';
import { openReply } from '#base/http/read-reply.ts';
import { type Clock, dayMs } from '#base/time/clock.ts';
import { RecurringTasks } from '#base/time/recurring-tasks.ts';
import type { AlertEntry } from '#contract/configuration/alerts.ts';
import type { Configuration } from '#contract/configuration/configuration.ts';
import type { AlertDelivery, AlertStore } from '#domain/limits/alert-store.ts';
import { type ReachedThreshold, toAlertId } from '#domain/limits/limit-alerts.ts';
import { FreshRead } from '../node/data-refresher.ts';

const pollIntervalMs = 1_000;
const cleanUpMs = 10 * 60_000;
const maxAttemptMs = 15_000;
const timeouts = { connectMs: maxAttemptMs, firstByteMs: maxAttemptMs, idleMs: maxAttemptMs };
/** Time after which other nodes repeat the attempt of a node that ended. It is longer than an attempt. */
const leaseMs = 20_000;
const firstRetryMs = 1_000;
const retriesMs = dayMs;
/** Time after the last attempt until an alert is no longer reported as undelivered. */
const reportMs = dayMs;
/** Retention of a delivery after the end of its period and of the retries. */
const retentionMs = 7 * dayMs;
const maxOpen = 200;
/** Maximum number of concurrent attempts. */
const maxParallel = 16;
/** Maximum number of thresholds that are not written yet, and of those that are known to be written. */
const maxRemembered = 10_000;

/** An alert that could not be delivered. */
export interface UndeliveredAlert {
  /** Index of the alert in the configuration. */
  readonly index: number;
  readonly error: string;
  /** Time until which Parley retries. Undefined if it has stopped. */
  readonly retriesUntilMs: number | undefined;
}

export interface AlertDeliveriesDeps {
  readonly store: AlertStore;
  /** Client without the network guard, because the operator configures the addresses. */
  readonly http: HttpClient;
  readonly snapshot: () => { readonly configuration: Pick<Configuration, 'alerts'> };
  readonly clock: Clock;
  /** Called with all alerts that cannot be delivered at the moment. */
  readonly onUndelivered: (alerts: readonly UndeliveredAlert[]) => void;
  readonly reportError: (message: string, error: unknown) => void;
}

/** A configured alert with its index. */
interface IndexedAlert extends AlertEntry {
  readonly index: number;
}

type NewDelivery = Parameters<AlertStore['add']>[0];

/**
 * Sends one webhook for each threshold and period, on the first node that claims it. Other nodes continue the work of a node that
 * ends.
 */
export class AlertDeliveries {
  readonly #deps: AlertDeliveriesDeps;
  readonly #tasks: RecurringTasks;
  readonly #aborter = new AbortController();
  readonly #work = new FreshRead(() => this.#run());
  readonly #unwrittenDeliveries = new Map<string, NewDelivery>();
  readonly #recordedIds = new Set<string>();
  readonly #attempts = new Map<string, Promise<void>>();

  constructor(deps: AlertDeliveriesDeps) {
    this.#deps = deps;
    this.#tasks = new RecurringTasks(deps.reportError);
    this.#tasks.startAndEvery(pollIntervalMs, 'cannot read or write the webhooks of alerts', () => this.#work.run());
    this.#tasks.every(cleanUpMs, 'cannot delete old webhooks of alerts', async () => {
      if (this.#isConfigured) await deps.store.deleteExpired(deps.clock.epochMs());
    });
  }

  /** Stores the webhook of a threshold in the background, unless it was stored before. */
  record(reached: ReachedThreshold): void {
    const id = toDeliveryId(reached);
    if (this.#recordedIds.has(id) || this.#unwrittenDeliveries.size >= maxRemembered) return;
    if (this.#recordedIds.size >= maxRemembered) this.#recordedIds.clear();
    this.#recordedIds.add(id);
    this.#unwrittenDeliveries.set(id, toDelivery(id, reached, this.#deps.clock.epochMs()));
    // The recurring run repeats a failed write and reports it.
    void this.#work.run().catch(() => undefined);
  }

  /** Writes recorded thresholds and cancels attempts in progress, which other nodes or the next start repeat. */
  async close(): Promise<void> {
    this.#tasks.close();
    this.#aborter.abort();
    await this.#work.run().catch(() => undefined);
    await Promise.all(this.#attempts.values());
  }

  get #isConfigured(): boolean {
    return this.#deps.snapshot().configuration.alerts.length > 0;
  }

  async #run(): Promise<void> {
    const { store, clock, onUndelivered } = this.#deps;
    for (const [id, delivery] of this.#unwrittenDeliveries) {
      await store.add(delivery);
      this.#unwrittenDeliveries.delete(id);
    }
    if (this.#aborter.signal.aborted) return;
    const open = this.#isConfigured ? await store.listOpen(maxOpen) : [];
    const alerts = this.#getAlerts();
    onUndelivered(listUndelivered(open, alerts));
    const nowMs = clock.epochMs();
    for (const delivery of open) {
      const { id, nextAtMs } = delivery;
      if (nextAtMs === null || nextAtMs > nowMs || this.#attempts.size >= maxParallel) break;
      if (this.#attempts.has(id)) continue;
      const step = this.#advance(delivery, alerts.get(delivery.alert));
      this.#attempts.set(id, step);
      void step.finally(() => {
        this.#attempts.delete(id);
        // Other deliveries may wait for a free attempt, and the report of undelivered alerts may change.
        if (!this.#aborter.signal.aborted) void this.#work.run().catch(() => undefined);
      });
    }
  }

  #getAlerts(): ReadonlyMap<string, IndexedAlert> {
    const { alerts } = this.#deps.snapshot().configuration;
    return new Map(alerts.map((alert, index) => [toAlertId(alert), { ...alert, index }]));
  }

  async #advance(delivery: AlertDelivery, alert: IndexedAlert | undefined): Promise<void> {
    const { store, clock, reportError } = this.#deps;
    const { id, status } = delivery;
    try {
      if (status !== 'pending') await store.update(id, { ...delivery, nextAtMs: null });
      else if (alert === undefined) await store.update(id, { status: 'canceled', nextAtMs: null, error: null });
      else if (await store.claim(delivery, clock.epochMs() + leaseMs)) await this.#attempt(delivery, alert);
    } catch (error) {
      if (!this.#aborter.signal.aborted)
        reportError('cannot store the result of a webhook of an alert. Parley tries again', error);
    }
  }

  async #attempt(delivery: AlertDelivery, alert: IndexedAlert): Promise<void> {
    const { store, clock, reportError } = this.#deps;
    const { id, attempts, createdAtMs } = delivery;
    const { error, cause, isFinal = false } = await this.#send(delivery, alert);
    const nowMs = clock.epochMs();
    const attempt = { attemptedAtMs: nowMs };
    if (error === undefined) return store.update(id, { status: 'delivered', nextAtMs: null, error: null, ...attempt });
    if (this.#aborter.signal.aborted) return store.update(id, { status: 'pending', nextAtMs: nowMs, error: null });
    const endMs = createdAtMs + retriesMs;
    const hasEnded = isFinal || nowMs >= endMs;
    if (hasEnded || attempts === 0) {
      const next = hasEnded ? 'Parley does not try again' : 'Parley tries again for 24 hours';
      reportError(`the webhook of alerts[${alert.index}] could not be delivered: ${error}. ${next}`, cause);
    }
    const retryAtMs = Math.min(nowMs + firstRetryMs * 2 ** attempts, endMs);
    const state = hasEnded
      ? ({ status: 'failed', nextAtMs: nowMs + reportMs } as const)
      : ({ status: 'pending', nextAtMs: retryAtMs } as const);
    await store.update(id, { ...state, error, ...attempt });
  }

  async #send({ id, body }: AlertDelivery, { url, secret }: IndexedAlert): Promise<Outcome> {
    const { http, clock } = this.#deps;
    const headers = { 'content-type': 'application/json', ...signWebhook({ id, atMs: clock.epochMs(), body }, secret) };
    const signal = AbortSignal.any([this.#aborter.signal, AbortSignal.timeout(maxAttemptMs)]);
    try {
      const request = { method: 'POST', url: new URL(url), headers, body: Buffer.from(body), timeouts } as const;
      const { status, body: content } = await openReply(http, request, signal);
      await content[Symbol.asyncIterator]().return?.();
      if (status >= 200 && status < 300) return {};
      return { error: `the receiver returned ${status}`, isFinal: status === 410 };
    } catch (cause) {
      return { error: cause instanceof HttpError ? `no response (${cause.kind})` : 'no response', cause };
    }
  }
}

interface Outcome {
  /** Undefined if the receiver accepted the webhook. */
  readonly error?: string;
  readonly cause?: unknown;
  /** Whether the receiver accepts no further attempt. */
  readonly isFinal?: boolean;
}

function toDeliveryId({ alert, threshold, holder, windowName, resetsAtMs }: ReachedThreshold): string {
  return `msg_${hash('sha256', JSON.stringify([alert.id, holder, windowName, resetsAtMs, threshold]), 'base64url')}`;
}

function toDelivery(id: string, { alert, threshold, used, limit, resetsAtMs }: ReachedThreshold, nowMs: number): NewDelivery {
  const { of, user, window } = alert;
  const data = { of, ...(user !== undefined && { user }), window, threshold, used, limit, resetsAt: resetsAtMs };
  const body = JSON.stringify({ type: 'limit.threshold_reached', timestamp: new Date(nowMs).toISOString(), data });
  return { id, alert: alert.id, body, createdAtMs: nowMs, expiresAtMs: Math.max(resetsAtMs, nowMs + retriesMs) + retentionMs };
}

/** Returns the configured alerts whose last attempt failed, one result for each. */
function listUndelivered(open: readonly AlertDelivery[], alerts: ReadonlyMap<string, IndexedAlert>): readonly UndeliveredAlert[] {
  const undelivered = new Map<number, UndeliveredAlert>();
  for (const { alert, error, status, createdAtMs } of open) {
    const index = alerts.get(alert)?.index;
    if (index === undefined || error === null) continue;
    undelivered.set(index, { index, error, retriesUntilMs: status === 'pending' ? createdAtMs + retriesMs : undefined });
  }
  return [...undelivered.values()];
}

const encodedPrefix = 'whsec_';

interface WebhookMessage {
  /** ID that stays the same when the message is sent again. */
  readonly id: string;
  /** Time of the attempt in milliseconds since the epoch. */
  readonly atMs: number;
  readonly body: string;
}

/** Returns the header fields of a signed webhook, as the Standard Webhooks specification defines them. */
function signWebhook({ id, atMs, body }: WebhookMessage, secret: string): Readonly<Record<string, string>> {
  const timestamp = String(Math.floor(atMs / 1000));
  const isEncoded = secret.startsWith(encodedPrefix);
  const key = isEncoded ? Buffer.from(secret.slice(encodedPrefix.length), 'base64') : Buffer.from(secret);
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64');
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` };
}
