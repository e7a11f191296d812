import { toIdSuffix } from '../http/openapi/operation.ts';

/** A base path of the Responses API. */
export interface ResponsesBase {
  /** Path prefix before `/responses`. */
  readonly base: string;
  /** Suffix of the operation IDs. */
  readonly suffix: string;
  /** Whether clients of Azure's older API send `api-version` here. */
  readonly acceptsVersion: boolean;
}

/** Returns `/v1`, and for each alias both `/{alias}/v1` and `/{alias}`, which Azure clients use. */
export function listResponsesBases(aliases: readonly string[]): ResponsesBase[] {
  const aliasBases = aliases.flatMap((alias): ResponsesBase[] => {
    const suffix = toIdSuffix(alias);
    return [
      { base: `/${alias}/v1`, suffix, acceptsVersion: false },
      { base: `/${alias}`, suffix: `${suffix}_azure`, acceptsVersion: true },
    ];
  });
  return [{ base: '/v1', suffix: 'V1', acceptsVersion: false }, ...aliasBases];
}
