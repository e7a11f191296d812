import { isReference } from '#configuration/substitute.ts';
import { isNetwork } from '#contract/configuration/values.ts';
import type { ForeignObject } from '../foreign-object.ts';
import { type ImportContext, toDigest } from '../result.ts';

/** Imports the entries of `keys`, named by project and stored as digests, so that existing keys keep working. */
export function importKeys(root: ForeignObject, context: ImportContext): void {
  const names = new Set<string>();
  for (const [key, entry] of root.namedObjects('keys')) {
    const project = entry.text('project');
    const roles = [
      ...new Set([...(entry.texts('roles') ?? []), ...(entry.text('role') === undefined ? [] : [entry.text('role')])]),
    ];
    const allowedIps = toAllowedIps(entry.value('allowedIpAddressRanges'));
    const expiresAtMs = toMs(entry.value('expiresAt'));
    entry.reportUnread(
      {
        secured: null,
        key: null,
        name: null,
        createdAt: null,
        keyGeneratedAt: null,
        description: null,
        displayName: null,
        projectContactPoint: null,
      },
      'a key of DIAL',
    );
    const omissionReason = getOmissionReason({ project, roles, allowedIps, expiresAtMs, nowMs: context.nowMs });
    if (omissionReason !== undefined || project === undefined) {
      context.notes.addLoss(entry.path, `is left out: ${omissionReason}`);
      continue;
    }
    const name = findFreeName(context.variables.escapeText(project), names);
    context.result.put('keys', name, entry.path, {
      project: context.variables.escapeText(project),
      roles,
      ...(isReference(key) ? { key } : toDigest(key, entry.path, context.notes)),
      ...(expiresAtMs !== undefined && { expiresAt: new Date(expiresAtMs).toISOString() }),
      ...(allowedIps !== undefined && { allowedIps }),
    });
  }
}

interface KeyFacts {
  readonly project: string | undefined;
  readonly roles: readonly unknown[];
  readonly allowedIps: readonly string[] | 'unreadable' | undefined;
  readonly expiresAtMs: number | undefined;
  readonly nowMs: number;
}

function getOmissionReason({ project, roles, allowedIps, expiresAtMs, nowMs }: KeyFacts): string | undefined {
  if (project === undefined || project === '') return 'it has no project';
  if (expiresAtMs !== undefined && Number.isNaN(expiresAtMs)) return 'its expiresAt is not a date or a number of milliseconds';
  if (expiresAtMs !== undefined && expiresAtMs <= nowMs) return 'it has expired';
  if (roles.length === 0) return 'it has no role, and DIAL rejects such keys';
  if (allowedIps === 'unreadable')
    return 'its allowedIpAddressRanges must be a list of addresses or networks, such as 10.0.0.0/8';
  return undefined;
}

/**
 * Returns the networks, or `unreadable` if they are invalid, so that an invalid restriction does not become an unrestricted key.
 */
function toAllowedIps(ranges: unknown): readonly string[] | 'unreadable' | undefined {
  if (ranges === undefined || ranges === null) return undefined;
  const isReadable = Array.isArray(ranges) && ranges.every((range) => typeof range === 'string' && isNetwork(range));
  return isReadable ? ranges : 'unreadable';
}

/** First millisecond of the year 10000. Later times mean that a key does not expire. */
const year10000Ms = 253_402_300_800_000;

/**
 * Returns a time in milliseconds from a number or a date. Returns NaN if it is invalid, and undefined if the key does not expire.
 */
function toMs(time: unknown): number | undefined {
  if (time === undefined || time === null) return undefined;
  const text = String(time).trim();
  const ms = typeof time === 'number' || /^\d+$/.test(text) ? Number(text) : Date.parse(text);
  return ms >= year10000Ms ? undefined : ms;
}

/** Returns an unused name, because a project can have several keys. */
function findFreeName(project: string, usedNames: Set<string>): string {
  let name = project;
  for (let suffix = 2; usedNames.has(name); suffix += 1) name = `${project}-${suffix}`;
  usedNames.add(name);
  return name;
}
