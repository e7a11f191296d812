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
  /** Time of the next attempt, or until which a failure is reported. Null if neither follows. */
  readonly nextAtMs: number | null;
  /** Result of the last attempt. Null if it succeeded or has not ended. */
  readonly error: string | null;
  /** Time after which the delivery can be deleted. */
  readonly expiresAtMs: number;
}

/** A position in the list of deliveries. */
export interface AlertPage {
  readonly beforeMs: number;
  readonly beforeId: string;
  readonly limit: number;
}

/** Port for the deliveries of alerts. Throws `StoreError`. */
export interface AlertStore {
  /** Adds a pending delivery that is due, unless it exists. */
  add(delivery: Pick<AlertDelivery, 'id' | 'alert' | 'body' | 'createdAtMs' | 'expiresAtMs'>): Promise<void>;
  /** Returns the deliveries with a next time, the earliest first. */
  listOpen(limit: number): Promise<readonly AlertDelivery[]>;
  /** Returns deliveries, newest first. */
  list(page: AlertPage): Promise<readonly AlertDelivery[]>;
  /** Starts an attempt. Other nodes can start another one after `untilMs`. Returns false if another node was faster. */
  claim(delivery: AlertDelivery, untilMs: number): Promise<boolean>;
  /** Stores the state of a delivery, unless it is delivered. */
  update(id: string, state: Pick<AlertDelivery, 'status' | 'nextAtMs' | 'error'>): Promise<void>;
  /** Deletes the deliveries that have expired. */
  deleteExpired(nowMs: number): Promise<void>;
}
