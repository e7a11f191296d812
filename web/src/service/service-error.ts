import { isJsonObject, type JsonObject, toObject, toText } from '#base/json/json.ts';

interface FieldError {
  readonly path: string;
  readonly message: string;
  /** Suggested correction. */
  readonly hint?: string;
}

/** An error as stored in a chat and displayed. */
export interface ErrorDetails {
  /** HTTP status. 0 without a response, and 200 for an error within a stream. */
  readonly status: number;
  /** A code of docs/errors.md or of this page, such as `connection_lost` or `broke_off`. */
  readonly code: string;
  /** Message of the service, or ''. */
  readonly message: string;
  /** Message that the failed deployment provides for users. */
  readonly displayMessage?: string;
  /** Type of docs/errors.md. */
  readonly type?: string;
  /** JSON path of the invalid field. */
  readonly param?: string;
  readonly retryAfterSeconds?: number;
  readonly requestId?: string;
  /** Errors of the fields of a rejected entry. Paths start at the configuration. */
  readonly errors?: readonly FieldError[];
  /** Paths of the entries that refer to the changed or deleted entry. */
  readonly usedBy?: readonly string[];
  /** Missing consent to a deployment, and whether each deployment that it can call requires consent. */
  readonly consent?: { readonly deployment: string; readonly form: Readonly<Record<string, boolean>> };
}

/** Code of an answer that the service no longer has. */
export const lostCode = 'run_lost';
/** Code of an answer that was stopped, for example in another tab. */
export const canceledCode = 'run_canceled';

/** An error response of the service, or a failed connection. */
export class ServiceError extends Error {
  readonly details: ErrorDetails;

  constructor(details: ErrorDetails, cause?: unknown) {
    super(details.message || details.code, { cause });
    this.name = 'ServiceError';
    this.details = details;
  }
}

/** Parses `{"error": {…}}` from a response body or a stream event. */
export function parseErrorDetails(body: unknown, status: number): ErrorDetails {
  const error = toObject(toObject(body).error);
  const param = toText(error.param);
  const type = toText(error.type);
  const displayMessage = toText(error.display_message);
  return {
    status,
    code: toText(error.code) || `status_${status}`,
    message: toText(error.message),
    ...(type !== '' && { type }),
    ...(displayMessage !== '' && { displayMessage }),
    ...(param !== '' && { param }),
    ...(Array.isArray(error.errors) && { errors: error.errors.filter(isJsonObject).map(toFieldError) }),
    ...(Array.isArray(error.usedBy) && { usedBy: error.usedBy.map(String) }),
    ...(isJsonObject(error.consent) && {
      consent: { deployment: toText(error.deployment), form: parseConsentForm(error.consent) },
    }),
  };
}

function toFieldError({ path, message, hint }: JsonObject): FieldError {
  return { path: String(path), message: String(message), ...(typeof hint === 'string' && { hint }) };
}

/** Returns whether a message was rejected because of its content, so that sending it again would fail again. */
export function isRejection({ status, type }: Pick<ErrorDetails, 'status' | 'type'>): boolean {
  return [400, 413, 415, 422].includes(status) || (status === 200 && type === 'invalid_request_error');
}

/** Parses a consent form: whether each deployment requires consent, by ID. */
export function parseConsentForm(consent: object): Readonly<Record<string, boolean>> {
  const requiresConsent = (item: unknown): boolean => isJsonObject(item) && item.consentRequired === true;
  return Object.fromEntries(Object.entries(consent).map(([id, item]) => [id, requiresConsent(item)]));
}

/** Converts any thrown value. Values other than `ServiceError` become `connection_lost`. */
export function toErrorDetails(error: unknown): ErrorDetails {
  if (error instanceof ServiceError) return error.details;
  return { status: 0, code: 'connection_lost', message: '' };
}

/** Returns whether a status is one of a proxy that cannot reach the service. */
export function isGatewayError(status: number): boolean {
  return status >= 502 && status <= 504;
}
