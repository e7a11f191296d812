import type { JsonObject } from '#base/json/json.ts';
import { ParleyError } from '#contract/errors/errors.ts';

/** Codes of JSON-RPC, and of the Model Context Protocol beside them. */
export const rpcCodes = {
  parseError: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  headerMismatch: -32020,
  unsupportedVersion: -32022,
} as const;

interface RpcDetails {
  /** The HTTP status of the answer; 400 if absent. */
  readonly status?: number;
  readonly data?: JsonObject;
  readonly cause?: unknown;
}

/** A message that cannot be taken, answered with an error of JSON-RPC. */
export class RpcError extends ParleyError {
  readonly rpcCode: number;
  readonly data: JsonObject | undefined;

  constructor(code: keyof typeof rpcCodes, message: string, { status = 400, data, cause }: RpcDetails = {}) {
    super('invalid_request', message, { status, cause });
    this.name = 'RpcError';
    this.rpcCode = rpcCodes[code];
    this.data = data;
  }
}

/** What `read` gives; an error of the contract that it throws becomes a fault of this code. */
export function withRpcError<Value>(code: keyof typeof rpcCodes, read: () => Value, details: RpcDetails = {}): Value {
  try {
    return read();
  } catch (cause) {
    if (!(cause instanceof ParleyError)) throw cause;
    throw new RpcError(code, cause.message, { ...details, cause });
  }
}
