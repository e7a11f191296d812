import { isDeepStrictEqual } from 'node:util';
import type { Expression, Kysely, SqlBool } from 'kysely';
import { isJsonObject, type JsonObject, parseJson } from '#base/json/json.ts';
import type { Seal } from '#base/secrets/seal.ts';
import { splitIntoBatches } from '#base/stream/batches.ts';
import { matchesFilter, type ScimFilter } from '#domain/scim/scim-filter.ts';
import {
  type MemberChange,
  type RoleMember,
  type ScimBlock,
  type ScimGroup,
  type ScimMember,
  type ScimPage,
  type ScimQuery,
  type ScimStore,
  type ScimUser,
  type ScimWriteResult,
  scimAuthor,
} from '#domain/scim/scim-store.ts';
import { raiseUsersRevision } from '../callers/blocked-user-store.ts';
import type { SqlDatabase } from '../engine/sql-database.ts';
import { type ReportInvalidEntry, readEntry, withoutInvalid } from '../engine/stored-values.ts';
import type { Schema } from '../schema.ts';
import { toCondition } from './filter-condition.ts';
import type { ScimGroupRow, ScimUserRow } from './scim-tables.ts';

const maxUsers = 100_000;
const maxGroups = 10_000;
/** SQLite and PostgreSQL limit the number of parameters of a statement. */
const rowsPerStatement = 500;

/** Provisioned users and groups in tables. Attributes of users are sealed. A write of a user can also block or unblock the user. */
export class SqlScimStore implements ScimStore {
  readonly #database: SqlDatabase;
  readonly #seal: Seal;
  readonly #reportInvalid: ReportInvalidEntry;

  constructor(database: SqlDatabase, seal: Seal, reportInvalid: ReportInvalidEntry = () => undefined) {
    this.#database = database;
    this.#seal = seal;
    this.#reportInvalid = reportInvalid;
  }

  addUser(user: ScimUser, block: ScimBlock | undefined): Promise<ScimWriteResult> {
    return this.#write(async (kysely) => {
      if (await hasName(kysely, 'scim_users', user.userName, user.id)) return 'taken';
      if ((await countRows(kysely, 'scim_users')) >= maxUsers) return 'full';
      await kysely.insertInto('scim_users').values(this.#toUserRow(user)).execute();
      return writeBlock(kysely, block);
    });
  }

  replaceUser(before: ScimUser, user: ScimUser, block: ScimBlock | undefined): Promise<ScimWriteResult> {
    return this.#write(async (kysely) => {
      if (await hasName(kysely, 'scim_users', user.userName, user.id)) return 'taken';
      const { id, ...row } = this.#toUserRow(user);
      const stored = await kysely.selectFrom('scim_users').selectAll().where('id', '=', id).executeTakeFirst();
      if (stored === undefined) return 'missing';
      if (!isDeepStrictEqual(this.#openUser(stored), before)) return 'outdated';
      await kysely.updateTable('scim_users').set(row).where('id', '=', id).execute();
      return writeBlock(kysely, block);
    });
  }

  deleteUser(id: string, block: ScimBlock | undefined): Promise<ScimWriteResult> {
    return this.#write(async (kysely) => {
      await kysely.deleteFrom('scim_members').where('user_id', '=', id).execute();
      const deleted = await kysely.deleteFrom('scim_users').where('id', '=', id).returning('id').execute();
      if (deleted.length === 0) return 'missing';
      return writeBlock(kysely, block);
    });
  }

  async findUser(id: string): Promise<ScimUser | undefined> {
    const { resources } = await this.listUsers({ filter: buildIdFilter(id), offset: 0, limit: 1 });
    return resources[0];
  }

  async listUsers({ filter, offset, limit }: ScimQuery): Promise<ScimPage<ScimUser>> {
    const { condition, isExact } = toCondition(filter, 'scim_users');
    if (filter !== undefined && !isExact) return this.#searchUsers({ filter, offset, limit }, condition);
    return this.#database.run(async (kysely) => {
      const selected = kysely.selectFrom('scim_users').where(condition);
      const { total } = await selected.select(({ fn }) => fn.countAll<number>().as('total')).executeTakeFirstOrThrow();
      const rows = await selected.selectAll().orderBy('created_at_ms').orderBy('id').offset(offset).limit(limit).execute();
      return { total, resources: withoutInvalid(rows.map((row) => this.#openUser(row))) };
    });
  }

  /** Reads all users that meet the condition, because a filter of sealed attributes cannot be a condition. */
  async #searchUsers(
    { filter, offset, limit }: ScimQuery & { readonly filter: ScimFilter },
    condition: Expression<SqlBool>,
  ): Promise<ScimPage<ScimUser>> {
    const resources: ScimUser[] = [];
    let total = 0;
    let last: ScimUserRow | undefined;
    do {
      const after = last;
      const rows = await this.#database.run((kysely) =>
        kysely
          .selectFrom('scim_users')
          .selectAll()
          .where(condition)
          .$if(after !== undefined, (query) =>
            query.where(({ eb, refTuple, tuple }) =>
              eb(refTuple('created_at_ms', 'id'), '>', tuple(after?.created_at_ms ?? 0, after?.id ?? '')),
            ),
          )
          .orderBy('created_at_ms')
          .orderBy('id')
          .limit(rowsPerStatement)
          .execute(),
      );
      for (const user of withoutInvalid(rows.map((row) => this.#openUser(row)))) {
        if (!matchesFilter(filter, toFilterable(user))) continue;
        if (total >= offset && resources.length < limit) resources.push(user);
        total += 1;
      }
      last = rows.length < rowsPerStatement ? undefined : rows.at(-1);
    } while (last !== undefined);
    return { total, resources };
  }

  addGroup(group: ScimGroup, members: readonly string[]): Promise<ScimWriteResult> {
    return this.#write(async (kysely) => {
      if (await hasName(kysely, 'scim_groups', group.displayName, group.id)) return 'taken';
      if ((await countRows(kysely, 'scim_groups')) >= maxGroups) return 'full';
      await kysely.insertInto('scim_groups').values(toGroupRow(group)).execute();
      return changeMembers(kysely, group.id, [{ op: 'add', userIds: members }]);
    });
  }

  replaceGroup(group: ScimGroup, changes: readonly MemberChange[]): Promise<ScimWriteResult> {
    return this.#write(async (kysely) => {
      if (await hasName(kysely, 'scim_groups', group.displayName, group.id)) return 'taken';
      const { id, ...row } = toGroupRow(group);
      const replaced = await kysely.updateTable('scim_groups').set(row).where('id', '=', id).returning('id').execute();
      return replaced.length === 0 ? 'missing' : changeMembers(kysely, id, changes);
    });
  }

  deleteGroup(id: string): Promise<ScimWriteResult> {
    return this.#write(async (kysely) => {
      await kysely.deleteFrom('scim_members').where('group_id', '=', id).execute();
      const deleted = await kysely.deleteFrom('scim_groups').where('id', '=', id).returning('id').execute();
      return deleted.length === 0 ? 'missing' : 'stored';
    });
  }

  async findGroup(id: string): Promise<ScimGroup | undefined> {
    const { resources } = await this.listGroups({ filter: buildIdFilter(id), offset: 0, limit: 1 });
    return resources[0];
  }

  async listGroups({ filter, offset, limit }: ScimQuery): Promise<ScimPage<ScimGroup>> {
    return this.#database.run(async (kysely) => {
      const selected = kysely.selectFrom('scim_groups').where(toCondition(filter, 'scim_groups').condition);
      const { total } = await selected.select(({ fn }) => fn.countAll<number>().as('total')).executeTakeFirstOrThrow();
      const rows = await selected.selectAll().orderBy('created_at_ms').orderBy('id').offset(offset).limit(limit).execute();
      return { total, resources: rows.map(openGroup) };
    });
  }

  async listMembers(
    filter: { readonly groups: readonly string[] } | { readonly users: readonly string[] },
    limit: number,
  ): Promise<readonly ScimMember[]> {
    const [column, ids] = 'groups' in filter ? (['group_id', filter.groups] as const) : (['user_id', filter.users] as const);
    if (ids.length === 0) return [];
    return this.#database.run((kysely) =>
      kysely
        .selectFrom('scim_members')
        .innerJoin('scim_users', 'scim_users.id', 'scim_members.user_id')
        .innerJoin('scim_groups', 'scim_groups.id', 'scim_members.group_id')
        .select([
          'scim_groups.id as groupId',
          'scim_groups.display_name as groupName',
          'scim_users.id as userId',
          'scim_users.user_name as userName',
        ])
        .where(`scim_members.${column}`, 'in', [...ids])
        .orderBy('scim_members.group_id')
        .orderBy('scim_members.user_id')
        .limit(limit)
        .execute(),
    );
  }

  /** Reads the revision first, so that a write in between is read again. */
  readRoleMembers(
    since: number,
    groupNames: readonly string[],
  ): Promise<{ readonly revision: number; readonly members: readonly RoleMember[] | undefined }> {
    return this.#database.run(async (kysely) => {
      const { revision } = await kysely.selectFrom('scim_revision').select('revision').executeTakeFirstOrThrow();
      if (revision === since) return { revision, members: undefined };
      const members = await kysely
        .selectFrom('scim_members')
        .innerJoin('scim_users', 'scim_users.id', 'scim_members.user_id')
        .innerJoin('scim_groups', 'scim_groups.id', 'scim_members.group_id')
        .select([
          'scim_users.user_name as userName',
          'scim_users.external_id as externalId',
          'scim_groups.display_name as groupName',
        ])
        .where('scim_groups.folded_name', 'in', groupNames.map(fold))
        .execute();
      return { revision, members };
    });
  }

  /** Takes the lock of the revision first, so that concurrent writes queue. A result other than `stored` changes nothing. */
  #write(work: (kysely: Kysely<Schema>) => Promise<ScimWriteResult>): Promise<ScimWriteResult> {
    return this.#database.transact<ScimWriteResult>(async (kysely, rollBack) => {
      await kysely
        .updateTable('scim_revision')
        .set(({ eb }) => ({ revision: eb('revision', '+', 1) }))
        .execute();
      const result = await work(kysely);
      return result === 'stored' ? result : rollBack(result);
    });
  }

  #toUserRow({ id, userName, externalId, isActive, attributes, createdAtMs, updatedAtMs }: ScimUser): ScimUserRow {
    return {
      ...{ id, user_name: userName, folded_name: fold(userName), external_id: externalId, is_active: isActive ? 1 : 0 },
      sealed_attributes: this.#seal.seal(JSON.stringify(attributes), toUserContext(id)),
      ...{ created_at_ms: createdAtMs, updated_at_ms: updatedAtMs },
    };
  }

  #openUser(row: ScimUserRow): ScimUser | undefined {
    const { id, user_name: userName, external_id: externalId } = row;
    return readEntry({ kind: 'user', id, reportInvalid: this.#reportInvalid }, () => {
      const attributes = parseJson(this.#seal.open(row.sealed_attributes, toUserContext(id)));
      if (!isJsonObject(attributes)) throw new Error('the stored attributes are not an object');
      const times = { createdAtMs: row.created_at_ms, updatedAtMs: row.updated_at_ms };
      return { id, userName, externalId, isActive: row.is_active === 1, attributes, ...times };
    });
  }
}

export function toUserContext(id: string): string {
  return JSON.stringify(['scim user', id]);
}

function fold(name: string): string {
  return name.toLowerCase();
}

function buildIdFilter(value: string): ScimFilter {
  return { op: 'eq', path: { attribute: 'id' }, value };
}

/** Returns the attributes of a user that a filter can use. */
function toFilterable({ id, userName, externalId, isActive, attributes, createdAtMs, updatedAtMs }: ScimUser): JsonObject {
  const meta = { created: new Date(createdAtMs).toISOString(), lastModified: new Date(updatedAtMs).toISOString() };
  return { ...attributes, id, userName, externalId, active: isActive, meta };
}

async function hasName(kysely: Kysely<Schema>, table: 'scim_users' | 'scim_groups', name: string, id: string): Promise<boolean> {
  const row = await kysely
    .selectFrom(table)
    .select('id')
    .where('folded_name', '=', fold(name))
    .where('id', '!=', id)
    .executeTakeFirst();
  return row !== undefined;
}

async function countRows(kysely: Kysely<Schema>, table: 'scim_users' | 'scim_groups'): Promise<number> {
  const { total } = await kysely
    .selectFrom(table)
    .select(({ fn }) => fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow();
  return total;
}

/** Stores or removes the block of a user. A block by an administrator stays. */
async function writeBlock(kysely: Kysely<Schema>, block: ScimBlock | undefined): Promise<'stored'> {
  if (block === undefined) return 'stored';
  const { subject, isBlocked, reason, atMs } = block;
  await raiseUsersRevision(kysely);
  if (isBlocked)
    await kysely
      .insertInto('blocked_users')
      .values({ subject, reason, blocked_at_ms: atMs, blocked_by: scimAuthor })
      .onConflict((conflict) => conflict.column('subject').doNothing())
      .execute();
  else await kysely.deleteFrom('blocked_users').where('subject', '=', subject).where('blocked_by', '=', scimAuthor).execute();
  return 'stored';
}

async function changeMembers(
  kysely: Kysely<Schema>,
  groupId: string,
  changes: readonly MemberChange[],
): Promise<ScimWriteResult> {
  for (const { op, userIds } of changes) {
    if (op === 'set') await kysely.deleteFrom('scim_members').where('group_id', '=', groupId).execute();
    for (const ids of splitIntoBatches([...new Set(userIds)], rowsPerStatement)) {
      if (op === 'remove') {
        await kysely.deleteFrom('scim_members').where('group_id', '=', groupId).where('user_id', 'in', ids).execute();
        continue;
      }
      const users = await kysely.selectFrom('scim_users').select('id').where('id', 'in', ids).execute();
      if (users.length < ids.length) return 'unknown';
      await kysely
        .insertInto('scim_members')
        .values(ids.map((id) => ({ group_id: groupId, user_id: id })))
        .onConflict((conflict) => conflict.doNothing())
        .execute();
    }
  }
  return 'stored';
}

function toGroupRow({ id, displayName, externalId, createdAtMs, updatedAtMs }: ScimGroup): ScimGroupRow {
  const names = { display_name: displayName, folded_name: fold(displayName), external_id: externalId };
  return { id, ...names, created_at_ms: createdAtMs, updated_at_ms: updatedAtMs };
}

function openGroup({ id, display_name, external_id, created_at_ms, updated_at_ms }: ScimGroupRow): ScimGroup {
  const times = { createdAtMs: created_at_ms, updatedAtMs: updated_at_ms };
  return { id, displayName: display_name, externalId: external_id, ...times };
}
