/** A webhook about one threshold in one period. */
export interface AlertDelivery {
  /** Depends on the alert, the counter, the period, and the threshold, so that all nodes together send one webhook. */
  readonly id: string;
  /** ID of the alert. */
  readonly alert: string;
  /** Body of the webhook, as JSON. */
  readonly body: string;
  readonly createdAtMs: number;
  /** `failed`: Parley stopped trying. `canceled`: the alert is no longer configured. */
  readonly status: 'pending' | 'delivered' | 'failed' | 'canceled';
  /** Number of attempts, including one in progress. */
  readonly attempts: number;
  /** End of the last attempt. Null before it, and for attempts of earlier versions. */
  readonly attemptedAtMs: number | null;
  /** Time of the next attempt. For a failed delivery, the time until which the failure is reported. Null if there is none. */
  readonly nextAtMs: number | null;
  /** Result of the last attempt. Null if it succeeded or has not ended. */
  readonly error: string | null;
  /** Time after which the delivery can be deleted. */
  readonly expiresAtMs: number;
}

/** State of the deliveries of one alert. */
export interface AlertState {
  /** Number of deliveries that wait for an attempt. */
  readonly pending: number;
  /** Earliest time of an attempt. Null if none waits. */
  readonly nextAttemptAtMs: number | null;
  readonly lastSentAtMs: number | null;
  /** Last failed attempt of a delivery that did not succeed later. */
  readonly lastFailure: { readonly atMs: number | null; readonly error: string } | null;
}

/** A position in the list of deliveries. */
export interface AlertPage {
  readonly beforeMs: number;
  readonly beforeId: string;
  readonly limit: number;
}

export type AlertUpdate = Pick<AlertDelivery, 'status' | 'nextAtMs' | 'error'> & Partial<Pick<AlertDelivery, 'attemptedAtMs'>>;

/** Port for the deliveries of alerts. Throws `StoreError`. */
export interface AlertStore {
  /** Adds a pending delivery that is due, unless it exists. */
  add(delivery: Pick<AlertDelivery, 'id' | 'alert' | 'body' | 'createdAtMs' | 'expiresAtMs'>): Promise<void>;
  /** Returns the deliveries whose `nextAtMs` is not null, earliest first. */
  listOpen(limit: number): Promise<readonly AlertDelivery[]>;
  /** Returns deliveries, newest first. */
  list(page: AlertPage): Promise<readonly AlertDelivery[]>;
  /** Returns the states by alert ID, for at most 500 alerts. Omits alerts without deliveries. */
  readStates(alerts: readonly string[]): Promise<ReadonlyMap<string, AlertState>>;
  /** Starts an attempt. Other nodes can start another one after `untilMs`. Returns false if another node was faster. */
  claim(delivery: AlertDelivery, untilMs: number): Promise<boolean>;
  /** Stores the state of a delivery, unless it is delivered. Without `attemptedAtMs`, the time of the last attempt stays. */
  update(id: string, state: AlertUpdate): Promise<void>;
  /** Deletes the deliveries that have expired. */
  deleteExpired(nowMs: number): Promise<void>;
}
