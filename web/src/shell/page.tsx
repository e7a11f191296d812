import { createContext, useContext, useEffect, useMemo, useState, useSyncExternalStore } from 'react';
import type { Conversation } from '../conversation/conversation.ts';
import type { ConversationSummary } from '../conversation/database.ts';
import type { CommandRegistry } from '../palette/command-registry.ts';
import { getReadableName } from '../service/deployments.ts';
import { documentChanges, listDocuments } from '../service/user-documents.ts';
import { useStrings } from '../strings/strings.tsx';
import { listTags } from './conversation-filter.ts';
import type { Route } from './route.ts';
import type { Session } from './session.ts';

/** An action that can be undone. */
export interface UndoOffer {
  /** Description of the action. */
  readonly message: string;
  readonly undo: () => void;
  /** Called if it is not undone. */
  readonly onExpire?: () => void;
}

/** Context that all parts of the page share after the sign-in. */
export interface Page extends Omit<Session, 'close'> {
  /** Reloads the list of deployments. */
  readonly refresh: () => Promise<void>;
  readonly route: Route;
  readonly go: (route: Route) => void;
  /** Sets a function that decides for each new address whether the user stays. Undefined removes it. */
  readonly blockNavigation?: (shouldStay: ((hash: string) => boolean) | undefined) => void;
  readonly signOut: () => void;
  /** Announces a text to screen readers. */
  readonly announce: (text: string) => void;
  /** Offers to undo the last action. */
  readonly offerUndo: (offer: UndoOffer) => void;
  /** Commands of the palette, in addition to chats, deployments, and pages. */
  readonly commands: CommandRegistry;
  /** Whether this is the test chat of an application. */
  readonly isTest?: boolean;
  /** Whether the chat is not stored. */
  readonly isTemporary?: boolean;
}

export const PageContext = createContext<Page | undefined>(undefined);

export function usePage(): Page {
  const page = useContext(PageContext);
  if (page === undefined) throw new Error('The page context is missing');
  return page;
}

export function useSummaries(): readonly ConversationSummary[] {
  const { library } = usePage();
  return useSyncExternalStore(library.subscribe, library.getSummaries);
}

/**
 * Lists the projects in alphabetical order: the tags of chats, and the projects whose instructions or files are stored. Stored
 * projects are loaded after `delayMs`.
 */
export function useProjectNames(delayMs = 0): readonly string[] {
  const { service, storesFiles } = usePage();
  const summaries = useSummaries();
  const [storedNames, setStoredNames] = useState<readonly string[]>([]);
  useEffect(() => {
    if (!storesFiles) return;
    const load = (): void => void listDocuments(service, 'projects').then(setStoredNames, () => undefined);
    const timer = setTimeout(load, delayMs);
    documentChanges.addEventListener('projects', load);
    return () => {
      clearTimeout(timer);
      documentChanges.removeEventListener('projects', load);
    };
  }, [service, storesFiles, delayMs]);
  return useMemo(() => listTags(summaries, storedNames), [summaries, storedNames]);
}

export function useConversation(id: string): Conversation | undefined {
  const { library } = usePage();
  return useSyncExternalStore(library.subscribe, () => library.find(id));
}

/** Returns the team of a user who signed in with a key. All keys of a team are one user (docs/wire.md, Credentials). */
export function getKeyTeam(user: string): string | undefined {
  return user.startsWith('key:') ? user.slice('key:'.length) : undefined;
}

/** Returns a sentence that describes who can see the files, projects, and memory of the user. */
export function useVisibility(): string {
  const { user } = usePage();
  return useStrings().visibleTo(getKeyTeam(user));
}

/**
 * Returns a function that returns the name of a deployment. If the deployment is not available to the user, the function returns
 * the stored name, or a readable form of the ID.
 */
export function useGetName(): (id: string, storedName?: string) => string {
  const { deployments } = usePage();
  return (id, storedName) => deployments.find((deployment) => deployment.id === id)?.name ?? storedName ?? getReadableName(id);
}
