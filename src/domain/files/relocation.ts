import { ParleyError } from '#contract/errors/errors.ts';
import type { ResourceKind, ResourcePlace } from './resource-place.ts';

/** Something stored that is to be moved or copied within its kind; neither place is a folder. */
export interface Relocation<Kind extends ResourceKind = ResourceKind> {
  readonly from: ResourcePlace & { readonly kind: Kind };
  readonly to: ResourcePlace & { readonly kind: Kind };
  /** `to` as it was written. */
  readonly destinationUrl: string;
  /** Whether what is at `to` is to be replaced. */
  readonly replaces: boolean;
}

export function sourceAbsent(): ParleyError {
  return new ParleyError('invalid_request', 'sourceUrl names nothing that is stored.', { param: 'sourceUrl' });
}

export function destinationTaken(): ParleyError {
  const message = 'destinationUrl names something that is stored already; send "overwrite": true to replace it.';
  return new ParleyError('invalid_request', message, { param: 'destinationUrl' });
}
