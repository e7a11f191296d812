import { useEffect, useState } from 'react';
import type { Conversation } from '../conversation/conversation.ts';
import { type Database, type Head, openDatabase } from '../conversation/database.ts';

interface KeptChats {
  /** Those that can be read here, the latest first; undefined until they are known. */
  readonly heads: readonly Head[] | undefined;
  /** The one that is open; undefined while it is read, and where none is. */
  readonly open: Conversation | undefined;
}

/** What the browser has of a user’s conversations, and one of them. */
export function useKeptChats(user: string, id: string | undefined): KeptChats {
  const [database, setDatabase] = useState<Database>();
  const [heads, setHeads] = useState<readonly Head[]>();
  const [open, setOpen] = useState<Conversation>();
  useEffect(() => {
    const read = async (): Promise<void> => {
      const opened = await openDatabase(user);
      const [all, kept] = await Promise.all([opened.heads(), opened.keptIds()]);
      setDatabase(opened);
      setHeads(all.filter((head) => kept.has(head.id)).sort((one, other) => other.updatedAtMs - one.updatedAtMs));
    };
    void read().catch(() => setHeads([]));
  }, [user]);
  useEffect(() => {
    let isGone = false;
    setOpen(undefined);
    if (id !== undefined) void database?.read(id).then((read) => !isGone && setOpen(read));
    return () => {
      isGone = true;
    };
  }, [database, id]);
  return { heads, open };
}
