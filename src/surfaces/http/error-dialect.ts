import { type ParleyError, toErrorBody } from '#contract/errors/errors.ts';

/** How callers of one dialect are read and answered: key field, request ids, errors. */
export interface ErrorDialect {
  /** Whether a key may come in `x-api-key` too. */
  readonly takesXApiKey: boolean;
  /** Header fields of every answer that carry the request id. */
  readonly idHeaders: readonly string[];
  readonly toErrorBody: (error: ParleyError, requestId: string) => object;
  /** Header fields of an error that repeat others in words of the dialect, such as what is left of limits; absent: none. */
  readonly toOwnHeaders?: (headers: Readonly<Record<string, string>>, nowEpochMs: number) => Record<string, string>;
}

export const compatErrorDialect = { takesXApiKey: false, idHeaders: ['x-request-id'], toErrorBody } satisfies ErrorDialect;

/** On paths where `model` of the body names the deployment, as OpenAI's API says it. */
export const modelErrorDialect = withNotFound('model_not_found');

/** Clients tell by this code that a deployment does not exist. */
export function withNotFound(code: string): ErrorDialect {
  return {
    ...compatErrorDialect,
    toErrorBody(error) {
      const body = compatErrorDialect.toErrorBody(error);
      return error.publicCode === 'deployment_not_found' ? { error: { ...body.error, code } } : body;
    },
  };
}
