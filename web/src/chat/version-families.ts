import type { Deployment } from '../service/deployments.ts';

/**
 * Deployments of one name with versions are versions of one thing (docs/wire.md, Listings): each family is given where its first
 * one stands, with the chosen one first, else the latest. What other users shared is never of the family of another.
 */
export function toFamilies(
  deployments: readonly Deployment[],
  chosen: string | undefined,
): readonly (readonly [Deployment, ...Deployment[]])[] {
  const families = Map.groupBy(deployments, ({ id, name, version, maker }) =>
    version === undefined || maker === 'other' ? id : `${maker} ${name}`,
  );
  return [...families.values()].flatMap((family) => {
    const sorted = family.toSorted((one, other) => compareVersions(other.version, one.version));
    const first = sorted.find(({ id }) => id === chosen) ?? sorted[0];
    return first === undefined ? [] : [[first, ...sorted.filter((each) => each !== first)] as const];
  });
}

/** The versions of a family in their order, the latest first. */
export function versionsOf(family: readonly Deployment[]): readonly Deployment[] {
  return family.toSorted((one, other) => compareVersions(other.version, one.version));
}

function compareVersions(one = '', other = ''): number {
  return one.localeCompare(other, undefined, { numeric: true });
}
