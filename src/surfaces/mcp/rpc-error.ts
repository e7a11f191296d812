import type { JsonObject } from '#base/json/json.ts';
import { ParleyError } from '#contract/errors/errors.ts';

/** Error codes of JSON-RPC and of the Model Context Protocol. */
export const rpcCodes = {
  parseError: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  headerMismatch: -32020,
  unsupportedVersion: -32022,
} as const;

interface RpcDetails {
  /** HTTP status of the response. Default: 400. */
  readonly status?: number;
  readonly data?: JsonObject;
  readonly cause?: unknown;
}

/** An error that the client receives as a JSON-RPC error. */
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

/** Returns the result of `parse`. Converts a `ParleyError` to an `RpcError` with this code. */
export function withRpcError<Value>(code: keyof typeof rpcCodes, parse: () => Value, details: RpcDetails = {}): Value {
  try {
    return parse();
  } catch (cause) {
    if (!(cause instanceof ParleyError)) throw cause;
    throw new RpcError(code, cause.message, { ...details, cause });
  }
}
