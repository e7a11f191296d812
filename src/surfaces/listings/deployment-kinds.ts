import { ParleyError } from '#contract/errors/errors.ts';

/** Values of the parameter `type` of `/v1/deployment-names`. */
export const deploymentKinds: readonly string[] = ['model', 'application', 'toolset'];
/** Kinds to list if `type` is absent. Toolsets are listed only on request. */
const byDefault: readonly string[] = ['model', 'application'];

/**
 * Returns the requested kinds. The parameter may be repeated or comma-separated. Throws `invalid_request` for an unknown kind.
 */
export function readKinds(query: unknown): ReadonlySet<string> {
  const { type } = query as { readonly type?: string | readonly string[] };
  const names = [type ?? []].flat().flatMap((text) => text.split(','));
  const kinds = names.map((kind) => kind.trim()).filter((kind) => kind !== '');
  const unknown = kinds.find((kind) => !deploymentKinds.includes(kind));
  if (unknown !== undefined) {
    const claim = `type must be a comma-separated list of ${deploymentKinds.join(', ')}`;
    throw new ParleyError('invalid_request', `${claim}.`, { param: 'type' });
  }
  return new Set(kinds.length === 0 ? byDefault : kinds);
}
