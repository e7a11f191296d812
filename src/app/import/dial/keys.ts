import { hash } from 'node:crypto';
import type { JsonObject } from '#base/json.ts';
import { isReference } from '#configuration/substitute.ts';
import type { ForeignObject } from '../foreign-object.ts';
import type { ImportTools } from '../tools.ts';

/** Digests of shorter keys are soon guessed. */
const shortest = 16;

/** The entries of `keys`, by project and with digests, so that the keys that are out go on working. */
export function importKeys(root: ForeignObject, tools: ImportTools): void {
  const names = new Set<string>();
  for (const [key, entry] of root.named('keys')) {
    const project = entry.text('project');
    const roles = [
      ...new Set([...(entry.texts('roles') ?? []), ...(entry.text('role') === undefined ? [] : [entry.text('role')])]),
    ];
    const ranges = entry.value('allowedIpAddressRanges');
    const isOver = toMs(entry.value('expiresAt')) <= tools.nowMs;
    entry.leave(
      {
        secured: null,
        key: null,
        name: null,
        createdAt: null,
        expiresAt: 'keys do not expire here; take it out in time',
        keyGeneratedAt: null,
        description: null,
        displayName: null,
        projectContactPoint: null,
      },
      'a key of DIAL',
    );
    const why = whyLeftOut({ project, roles, ranges, isOver });
    if (why !== undefined || project === undefined) {
      tools.notes.lose(entry.path, `is left out: ${why}`);
      continue;
    }
    const name = freeName(tools.variables.text(project), names);
    tools.result.put(
      'keys',
      name,
      tools.result.from(entry.path, { project: tools.variables.text(project), roles, ...toSecret(key, entry, tools) }),
    );
  }
}

function whyLeftOut({
  project,
  roles,
  ranges,
  isOver,
}: {
  project: unknown;
  roles: readonly unknown[];
  ranges: unknown;
  isOver: boolean;
}): string | undefined {
  if (project === undefined || project === '') return 'it has no project';
  if (isOver) return 'it has expired';
  if (roles.length === 0) return 'it has no role, and DIAL refuses such keys';
  if (ranges !== undefined)
    return 'it counts from some addresses only, which Parley cannot tell; add it if a proxy before Parley can';
  return undefined;
}

/** A time as a number of milliseconds or as a date; one that cannot be read is never over. */
function toMs(time: unknown): number {
  const ms = typeof time === 'number' ? time : Date.parse(String(time));
  return Number.isNaN(ms) ? Number.POSITIVE_INFINITY : ms;
}

function toSecret(key: string, entry: ForeignObject, { notes }: ImportTools): JsonObject {
  if (isReference(key)) return { key };
  if (key.length < shortest)
    notes.mention(entry.path, 'is short enough to be guessed from its digest: issue a longer one in time');
  return { sha256: hash('sha256', key, 'hex') };
}

/** A project can have several keys. */
function freeName(project: string, taken: Set<string>): string {
  let name = project;
  for (let nth = 2; taken.has(name); nth += 1) name = `${project}-${nth}`;
  taken.add(name);
  return name;
}
