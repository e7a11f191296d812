import { createHmac } from 'node:crypto';

const encodedPrefix = 'whsec_';

export interface WebhookMessage {
  /** ID that stays the same when the message is sent again. */
  readonly id: string;
  /** Time of the attempt in milliseconds since the epoch. */
  readonly atMs: number;
  readonly body: string;
}

/** Returns the header fields of a signed webhook, as the Standard Webhooks specification defines them. */
export function signWebhook({ id, atMs, body }: WebhookMessage, secret: string): Readonly<Record<string, string>> {
  const timestamp = String(Math.floor(atMs / 1000));
  const isEncoded = secret.startsWith(encodedPrefix);
  const key = isEncoded ? Buffer.from(secret.slice(encodedPrefix.length), 'base64') : Buffer.from(secret);
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64');
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` };
}
