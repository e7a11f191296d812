import { useCallback, useState } from 'react';
import { type Column, DataTable } from '../parts/data-table.tsx';
import { TextButton } from '../parts/icon.tsx';
import { useConfirmation } from '../parts/question-dialog.tsx';
import { Segments } from '../parts/segments.tsx';
import { useAction, useLoaded } from '../parts/use-loaded.ts';
import { usePage } from '../shell/page.tsx';
import { formatDateTime } from '../strings/formats.ts';
import { useLanguage } from '../strings/strings.tsx';
import { AdminError } from './admin-error.tsx';
import { getKindTexts, useAdminStrings, useFieldStrings } from './admin-strings.ts';
import { type BlockedUser, blockUser, deleteEntry, type Entry, type Kind, listBlockedUsers, unblockUser } from './entries.ts';
import { EntryLink, EntrySection, EntryTable, SourceTag } from './entry-list.tsx';
import { useEntries } from './use-entries.ts';

/** The keys of projects, and those that users created. */
export function KeysSection({ kind }: { readonly kind: Kind }) {
  const strings = useAdminStrings();
  const { entries, error, isLoading, reload } = useEntries(kind.kind);
  const [owner, setOwner] = useState<'projects' | 'users'>('projects');
  const keys = (entries ?? []).filter(({ source }) => (source === 'user') === (owner === 'users'));
  const options = [
    ['projects', strings.projectKeys],
    ['users', strings.userKeys],
  ] as const;
  return (
    <EntrySection kind={kind.kind} isLoading={isLoading}>
      <Segments {...{ name: strings.keyOwner, value: owner, options, onSelect: setOwner }} />
      <AdminError error={error} />
      {entries !== undefined && owner === 'projects' && <ProjectKeys {...{ keys, isLoading }} />}
      {entries !== undefined && owner === 'users' && <UserKeys {...{ keys, isLoading, reload }} />}
    </EntrySection>
  );
}

interface KeyListProps {
  readonly keys: readonly Entry[];
  readonly isLoading: boolean;
}

function ProjectKeys({ keys, isLoading }: KeyListProps) {
  const strings = useAdminStrings();
  const { labels } = useFieldStrings();
  const { prefix, lastUse, expiry } = useKeyColumns();
  const { title, empty } = getKindTexts(strings, 'keys');
  const columns: readonly [Column<Entry>, ...Column<Entry>[]] = [
    { name: strings.name, render: (entry) => <EntryLink kind="keys" entry={entry} /> },
    { name: labels.project ?? '', render: ({ value }) => String(value.project ?? '') },
    prefix,
    lastUse,
    expiry,
    {
      name: strings.state,
      render: (entry) => (
        <>
          {entry.value.disabled === true && <strong className="error-text">{strings.blocked}</strong>} <SourceTag entry={entry} />
        </>
      ),
    },
  ];
  return <EntryTable {...{ label: title, entries: keys, columns, empty: isLoading ? '' : empty }} />;
}

function useKeyColumns(): Readonly<Record<'prefix' | 'lastUse' | 'expiry', Column<Entry>>> {
  const strings = useAdminStrings();
  const { labels } = useFieldStrings();
  const { locale } = useLanguage();
  return {
    prefix: { name: strings.startsWith, render: ({ prefix }) => prefix !== '' && <code className="small">{prefix}…</code> },
    lastUse: {
      name: strings.lastUse,
      render: ({ lastUsedAtMs }) =>
        lastUsedAtMs === undefined ? '' : lastUsedAtMs === null ? strings.never : formatDateTime(lastUsedAtMs, locale),
    },
    expiry: {
      name: labels.expiresAt ?? '',
      render: ({ expiresAtMs }) =>
        expiresAtMs === undefined ? strings.forever : <Expiry {...{ expiresAtMs, locale, expired: strings.expired }} />,
    },
  };
}

function Expiry({ expiresAtMs, locale, expired }: { expiresAtMs: number; locale: string; expired: string }) {
  const isExpired = expiresAtMs <= Date.now();
  return (
    <span className={isExpired ? 'error-text' : undefined}>
      {formatDateTime(expiresAtMs, locale)} {isExpired && `(${expired})`}
    </span>
  );
}

/** Keys that users created. An administrator can revoke a key, and block its user. */
function UserKeys({ keys, isLoading, reload }: KeyListProps & { readonly reload: () => void }) {
  const strings = useAdminStrings();
  const { service, isAdmin, announce, user: ownUser } = usePage();
  const { prefix, lastUse, expiry } = useKeyColumns();
  const { askConfirmation, dialog } = useConfirmation();
  const { error, run } = useAction();
  const loadBlocked = useCallback((signal: AbortSignal) => listBlockedUsers(service, signal), [service]);
  const blocked = useLoaded(loadBlocked);
  const change = async (action: () => Promise<void>, message: string): Promise<void> => {
    if (!(await run(action))) return;
    announce(message);
    reload();
    blocked.reload();
  };
  const revoke = async ({ id, user }: Entry): Promise<void> => {
    if (!(await askConfirmation(strings.revokeQuestion(user), strings.revoke))) return;
    await change(() => deleteEntry(service, 'keys', id, false), strings.revoked);
  };
  const block = async (user: string): Promise<void> => {
    if (!(await askConfirmation(strings.blockUserQuestion(user), strings.blockUser))) return;
    await change(() => blockUser(service, user, ''), strings.userBlocked(user));
  };
  const isBlocked = (user: string): boolean => blocked.value?.some((blockedUser) => blockedUser.user === user) === true;
  const actions: Column<Entry> = {
    name: strings.actions,
    render: (entry) => (
      <span className="row">
        <TextButton className="button slim" onClick={() => void revoke(entry)}>
          {strings.revoke}
        </TextButton>
        {!isBlocked(entry.user) && entry.user !== ownUser && (
          <TextButton className="button slim" onClick={() => void block(entry.user)}>
            {strings.blockUser}
          </TextButton>
        )}
      </span>
    ),
  };
  const columns: readonly [Column<Entry>, ...Column<Entry>[]] = [
    { name: strings.user, render: ({ user }) => user },
    { name: strings.name, render: ({ value }) => String(value.name ?? '') },
    prefix,
    lastUse,
    expiry,
    ...(isAdmin ? [actions] : []),
  ];
  return (
    <>
      {dialog}
      <AdminError error={error ?? blocked.error} />
      <EntryTable {...{ label: strings.userKeys, entries: keys, columns, empty: isLoading ? '' : strings.noUserKeys }} />
      <BlockedUsers
        blockedUsers={blocked.value ?? []}
        unblock={isAdmin ? (user) => void change(() => unblockUser(service, user), strings.userUnblocked(user)) : undefined}
      />
    </>
  );
}

interface BlockedUsersProps {
  readonly blockedUsers: readonly BlockedUser[];
  /** Undefined if the user cannot unblock users. */
  readonly unblock: ((user: string) => void) | undefined;
}

function BlockedUsers({ blockedUsers, unblock }: BlockedUsersProps) {
  const strings = useAdminStrings();
  const { locale } = useLanguage();
  if (blockedUsers.length === 0) return null;
  const actions: Column<BlockedUser> = {
    name: strings.actions,
    render: ({ user }) => (
      <button type="button" className="button slim" aria-label={strings.unblockNamed(user)} onClick={() => unblock?.(user)}>
        {strings.unblock}
      </button>
    ),
  };
  return (
    <>
      <h3>{strings.blockedUsers}</h3>
      <DataTable<BlockedUser>
        {...{ label: strings.blockedUsers, rows: blockedUsers, getKey: ({ user }) => user }}
        isStacked
        columns={[
          { name: strings.user, render: ({ user }) => user },
          { name: strings.reason, render: ({ reason }) => reason },
          { name: strings.since, render: ({ blockedAtMs }) => formatDateTime(blockedAtMs, locale) },
          ...(unblock === undefined ? [] : [actions]),
        ]}
      />
    </>
  );
}
