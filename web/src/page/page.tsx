import { createContext, useContext, useSyncExternalStore } from 'react';
import type { Conversation } from '../conversation/conversation.ts';
import type { ConversationSummary } from '../conversation/database.ts';
import type { Library } from '../conversation/library.ts';
import type { Outbox } from '../conversation/outbox.ts';
import type { ReplyRunner } from '../conversation/reply-runner.ts';
import type { CommandRegistry } from '../palette/command-registry.ts';
import { type Deployment, getPlainName } from '../service/deployments.ts';
import type { Service } from '../service/service.ts';
import type { Route } from './route.ts';
import type { UndoOffer } from './undo-offer.ts';

/** What every part of the page may use once somebody has signed in. */
export interface Page {
  readonly service: Service;
  readonly library: Library;
  readonly replyRunner: ReplyRunner;
  /** Messages that wait for an answer to end. */
  readonly outbox: Outbox;
  readonly deployments: readonly Deployment[];
  /** Who signed in, as the service names them. */
  readonly user: string;
  /** The model that names conversations, where one is set and open to the user. */
  readonly titleModel?: string;
  /** Whether conversations can be shared by links. */
  readonly sharesChats: boolean;
  /** Whether the user may see how everybody uses the service, and how it is. */
  readonly isAdmin: boolean;
  /** Learns anew what is open to the user. */
  readonly refresh: () => Promise<void>;
  readonly route: Route;
  readonly go: (route: Route) => void;
  /** From now on it is asked, with the address that leads away, whether the place stays as it is; undefined ends that. */
  readonly blockNavigation?: (shouldStay: ((hash: string) => boolean) | undefined) => void;
  readonly signOut: () => void;
  /** Says something to people who listen to the page. */
  readonly announce: (text: string) => void;
  /** Offers to take back what was just done. */
  readonly offerUndo: (offer: UndoOffer) => void;
  readonly isStorageUnavailable: boolean;
  /** What the palette offers beside conversations, deployments and pages. */
  readonly commands: CommandRegistry;
  /** Whether an application is tried here that is being built. */
  readonly isTest?: boolean;
  /** Whether what is said here is to be kept nowhere. */
  readonly isTemporary?: boolean;
}

export const PageContext = createContext<Page | undefined>(undefined);

export function usePage(): Page {
  const page = useContext(PageContext);
  if (page === undefined) throw new Error('outside of the page');
  return page;
}

export function useSummaries(): readonly ConversationSummary[] {
  const { library } = usePage();
  return useSyncExternalStore(library.subscribe, library.getSummaries);
}

export function useConversation(id: string): Conversation | undefined {
  const { library } = usePage();
  return useSyncExternalStore(library.subscribe, () => library.find(id));
}

/** The name of a deployment as people know it; its id where it is not offered to the user. */
export function useGetName(): (id: string) => string {
  const { deployments } = usePage();
  return (id) => deployments.find((deployment) => deployment.id === id)?.name ?? getPlainName(id);
}
