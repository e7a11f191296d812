import { type ParleyError, toErrorBody } from '#contract/errors/errors.ts';

/** Conventions of an API dialect: credential header, request ID headers, and error bodies. */
export interface ErrorDialect {
  /** Whether `x-api-key` may carry the key. */
  readonly acceptsXApiKey: boolean;
  /** Response headers that carry the request ID. */
  readonly idHeaders: readonly string[];
  /** Media type of error bodies. Default: `application/json; charset=utf-8`. */
  readonly mediaType?: string;
  readonly toErrorBody: (error: ParleyError, requestId: string) => object;
  /** Returns additional headers of an error in the dialect's own form, such as remaining limits. Undefined adds no headers. */
  readonly toDialectHeaders?: (headers: Readonly<Record<string, string>>, nowEpochMs: number) => Record<string, string>;
}

export const compatErrorDialect = { acceptsXApiKey: false, idHeaders: ['x-request-id'], toErrorBody } satisfies ErrorDialect;

/** Dialect for paths where `model` in the body names the deployment. Uses the error code of the OpenAI API. */
export const modelErrorDialect = withNotFoundCode('model_not_found');

/** Replaces the error code of an unknown deployment with a code that clients of the dialect recognize. */
export function withNotFoundCode(code: string): ErrorDialect {
  return {
    ...compatErrorDialect,
    toErrorBody(error) {
      const body = compatErrorDialect.toErrorBody(error);
      return error.publicCode === 'deployment_not_found' ? { error: { ...body.error, code } } : body;
    },
  };
}
