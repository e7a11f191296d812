import { isJsonObject } from '#base/json/json.ts';

/** Something that failed, as it is kept in a conversation and shown. */
export interface ErrorDetails {
  /** Of the HTTP answer; 0 where none came, 200 where the stream failed in the middle. */
  readonly status: number;
  /** A code of docs/errors.md, or `connection_lost` and `broke_off` of this page. */
  readonly code: string;
  /** As the service said it; '' where it said nothing. */
  readonly message: string;
  /** What the one who failed would have people told. */
  readonly displayMessage?: string;
  /** JSON path of the field at fault. */
  readonly param?: string;
  readonly retryAfterSeconds?: number;
  readonly requestId?: string;
  /** What `consent_required` asks for: whom, and of the others that it reaches, who asks first. */
  readonly consent?: { readonly deployment: string; readonly form: Readonly<Record<string, boolean>> };
}

/** Thrown by everything that speaks to the service. */
export class ServiceError extends Error {
  readonly details: ErrorDetails;

  constructor(details: ErrorDetails, cause?: unknown) {
    super(details.message || details.code, { cause });
    this.name = 'ServiceError';
    this.details = details;
  }
}

/** The fault in the body `{"error": {…}}` of an answer, or of one event of a stream. */
export function parseErrorDetails(body: unknown, status: number): ErrorDetails {
  const error = isJsonObject(body) && isJsonObject(body.error) ? body.error : {};
  const text = (value: unknown): string => (typeof value === 'string' ? value : '');
  const param = text(error.param);
  const displayMessage = text(error.display_message);
  return {
    status,
    code: text(error.code) || `status_${status}`,
    message: text(error.message),
    ...(displayMessage !== '' && { displayMessage }),
    ...(param !== '' && { param }),
    ...(isJsonObject(error.consent) && { consent: { deployment: text(error.deployment), form: toForm(error.consent) } }),
  };
}

function toForm(consent: object): Readonly<Record<string, boolean>> {
  const requiresConsent = (item: unknown): boolean => isJsonObject(item) && item.consentRequired === true;
  return Object.fromEntries(Object.entries(consent).map(([id, item]) => [id, requiresConsent(item)]));
}

/** The fault of anything thrown. */
export function toErrorDetails(error: unknown): ErrorDetails {
  if (error instanceof ServiceError) return error.details;
  return { status: 0, code: 'connection_lost', message: '' };
}
