import { ParleyError } from '#contract/errors.ts';
import type { Caller } from '#domain/callers/caller.ts';
import { type FilePlace, toFilePlace, toFolder } from '#domain/files/file-references.ts';
import { fileNotFound, type StoredFiles } from '#domain/files/stored-files.ts';
import { toItem, toMetadata } from './to-metadata.ts';

type Query = Readonly<Record<string, unknown>>;

const defaultLimit = 100;
const mostItems = 1000;

/** What is known of a file, or one page of a folder: the path of a folder ends with a slash, or is the bucket alone. */
export async function readMetadata(
  files: StoredFiles,
  caller: Caller,
  { encoded, query }: { encoded: string; query: Query },
): Promise<Record<string, unknown>> {
  const place = toFilePlace(encoded);
  if (place === undefined) return readFolder(files, caller, { folder: toFolder(encoded), query });
  const file = await files.look(caller, place);
  if (file === undefined) throw fileNotFound();
  return toMetadata(file);
}

async function readFolder(
  files: StoredFiles,
  caller: Caller,
  { folder, query }: { folder: FilePlace | undefined; query: Query },
): Promise<Record<string, unknown>> {
  if (folder === undefined) throw fileNotFound();
  const { bucket, path } = folder;
  const after = toAfter(query.token);
  const limit = toLimit(query.limit);
  const { items, next } = await files.list(caller, { bucket, folder: path, after, limit, isRecursive: toFlag(query.recursive) });
  return { items: items.map((item) => toItem(bucket, item)), nextToken: next === undefined ? null : toToken(next) };
}

function toLimit(value: unknown): number {
  const limit = value === undefined ? defaultLimit : Number(value);
  if (Number.isInteger(limit) && limit >= 1 && limit <= mostItems) return limit;
  throw queryFault('limit', `must be a whole number from 1 to ${mostItems}`);
}

function toFlag(value: unknown): boolean {
  if (value === undefined || value === 'false') return false;
  if (value === 'true') return true;
  throw queryFault('recursive', 'must be true or false');
}

function toToken(path: string): string {
  return Buffer.from(path).toString('base64url');
}

function toAfter(token: unknown): string | undefined {
  if (token === undefined || token === '') return undefined;
  const after = typeof token === 'string' ? Buffer.from(token, 'base64url').toString() : '';
  if (after !== '' && toToken(after) === token && !after.includes('\0')) return after;
  throw queryFault('token', 'must be the nextToken of the page before');
}

function queryFault(param: string, claim: string): ParleyError {
  return new ParleyError('invalid_request', `${param} ${claim}.`, { param });
}
