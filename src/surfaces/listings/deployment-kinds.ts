import { ParleyError } from '#contract/errors/errors.ts';

/** What `type` of `/v1/deployment-names` can name. */
export const deploymentKinds: readonly string[] = ['model', 'application', 'toolset'];
/** Toolsets are named only if asked for. */
const byDefault: readonly string[] = ['model', 'application'];

/** The kinds that a query asks for, with commas between them or one by one. Throws `invalid_request` for an unknown one. */
export function readKinds(query: unknown): ReadonlySet<string> {
  const { type } = query as { readonly type?: string | readonly string[] };
  const names = [type ?? []].flat().flatMap((text) => text.split(','));
  const kinds = names.map((kind) => kind.trim()).filter((kind) => kind !== '');
  const unknown = kinds.find((kind) => !deploymentKinds.includes(kind));
  if (unknown !== undefined) {
    const claim = `type must be one or more of ${deploymentKinds.join(', ')}, with commas between them`;
    throw new ParleyError('invalid_request', `${claim}.`, { param: 'type' });
  }
  return new Set(kinds.length === 0 ? byDefault : kinds);
}
