/** A model as the gateway lists it. */
export interface AddinModel {
  readonly id: string;
  readonly display_name: string;
}

/** What an operator decides about the gateway, as it is in force for one request. */
export interface AddinRules {
  /** Origins whose pages may call; undefined: any. */
  readonly allowedOrigins: ReadonlySet<string> | undefined;
  /** The body of `GET /msgapi/v1/models`. */
  readonly modelList: string;
}

export function toRules(models: readonly AddinModel[], allowedOrigins: readonly string[] | undefined): AddinRules {
  const data = models.map(({ id, display_name }) => ({ id, object: 'model', display_name }));
  return {
    allowedOrigins: allowedOrigins && new Set(allowedOrigins),
    modelList: JSON.stringify({ data, object: 'list', has_more: false }),
  };
}
