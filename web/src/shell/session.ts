import { isJsonObject, toObject } from '#base/json/json.ts';
import { adminRole, auditorRole } from '#contract/roles.ts';
import { createOutboxStorage, deleteDrafts } from '../chat/composer/drafts.ts';
import { readChatContext } from '../conversation/chat-context.ts';
import { createMemoryDatabase, type Database, openDatabase } from '../conversation/database.ts';
import { Library } from '../conversation/library.ts';
import type { NamingOptions } from '../conversation/name-conversation.ts';
import { connectOtherTabs } from '../conversation/other-tabs.ts';
import { Outbox } from '../conversation/outbox.ts';
import { ReplyRunner } from '../conversation/reply-runner.ts';
import { ServerSync } from '../conversation/server-sync.ts';
import { deleteKnownUser, type KnownUser, readKnownUser, saveKnownUser } from '../offline/known-user.ts';
import type { ChatRuns } from '../service/chat-runs.ts';
import { Chats } from '../service/chats.ts';
import { type Deployment, listDeployments } from '../service/deployments.ts';
import type { Service } from '../service/service.ts';
import { isGatewayError, toErrorDetails } from '../service/service-error.ts';

/** Data that exists from the sign-in to the sign-out. */
export interface Session {
  readonly service: Service;
  readonly library: Library;
  readonly replyRunner: ReplyRunner;
  /** Messages that are sent when the current answer ends. */
  readonly outbox: Outbox;
  readonly deployments: readonly Deployment[];
  /** ID of the user at the service. */
  readonly user: string;
  /** The model that names chats, if one is configured and available to the user. */
  readonly titleModel?: string;
  /** Whether chats can be shared with links. */
  readonly sharesChats: boolean;
  /** Whether the user can store files, prompts, a memory, and projects. */
  readonly storesFiles: boolean;
  /** Whether the service has tools for models. */
  readonly hasAddons: boolean;
  readonly roles: readonly string[];
  /** Whether the user has the role `admin`, which can change the configuration. */
  readonly isAdmin: boolean;
  /** Whether the user may see the usage of all users, the operations page, and the administration. */
  readonly canAudit: boolean;
  /** Sends pending changes, and then deletes this browser's copy of the chats if the service has all of them. */
  readonly close: () => void;
  /** Whether the browser forbids storage. */
  readonly isStorageUnavailable: boolean;
}

const hiddenFrameMs = 400;
/** Maximum time to wait for the service before the page opens with the chats stored in this browser. */
const maxStartMs = 1500;
/** Delay before loading code and data that are not needed at first, so that the page is usable earlier. */
const prepareAfterMs = 1000;

/**
 * Loads the user and the available deployments. If the service cannot be reached, uses the last known data, provided that it
 * belongs to the same sign-in (`knownUserId`). Throws `ServiceError`.
 */
export async function openSession(service: Service, knownUserId: string | undefined): Promise<Session> {
  const { user, info, deployments } = await loadUser(service, knownUserId);
  const { titleModel } = info;
  const canName = deployments.some(({ id }) => id === titleModel);
  const sharesChats = info.sharesChats === true;
  const storesFiles = info.storesFiles === true;
  const hasAddons = info.hasAddons === true;
  const roles = Array.isArray(info.roles) ? info.roles.map(String) : [];
  const isAdmin = roles.includes(adminRole);
  const canAudit = isAdmin || roles.includes(auditorRole);
  const database = await openDatabase(user).catch(() => undefined);
  const library = new Library(database ?? createMemoryDatabase(), connectOtherTabs(user));
  await library.load();
  const stopSync = database === undefined ? undefined : await startSync(service, database, library);
  const loadRuns = info.runsChats === true ? createChatRunsLoader(service) : undefined;
  const findDeployment = (id: string): Deployment | undefined => deployments.find((deployment) => deployment.id === id);
  const replyRunner = new ReplyRunner({
    ...(loadRuns && { loadRuns }),
    ...{ service, library, nextFrame, findDeployment },
    ...(storesFiles && {
      readContext: (conversation, id) => readChatContext(service, conversation, findDeployment(id)),
    }),
    ...(canName && { onReplyDone: (id) => void createTitle({ service, library, model: String(titleModel) }, id) }),
  });
  if (loadRuns !== undefined) {
    library.connectRuns(replyRunner);
    const prepare = () => Promise.allSettled([loadRuns(), import('../conversation/reply-fold.ts')]);
    setTimeout(() => void prepare(), prepareAfterMs);
  }
  const outbox = new Outbox({ library, replyRunner, storage: createOutboxStorage(user) });
  return {
    service,
    library,
    replyRunner,
    outbox,
    deployments,
    user,
    sharesChats,
    storesFiles,
    hasAddons,
    roles,
    isAdmin,
    canAudit,
    isStorageUnavailable: database === undefined,
    ...(canName && { titleModel: String(titleModel) }),
    close() {
      library.close();
      outbox.close();
      stopSync?.();
      deleteKnownUser(user);
      deleteDrafts(user);
    },
  };
}

async function loadUser(service: Service, knownUserId: string | undefined): Promise<KnownUser> {
  try {
    const [response, deployments] = await Promise.all([service.json('v1/user/info'), listDeployments(service)]);
    const user = isJsonObject(response) ? String(response.user) : '';
    const knownUserData = { user, info: toObject(response), deployments };
    saveKnownUser(knownUserData);
    return knownUserData;
  } catch (error) {
    const { status } = toErrorDetails(error);
    const storedUser = readKnownUser();
    const isUnreachable = status === 0 || isGatewayError(status);
    if (!isUnreachable || storedUser === undefined || storedUser.user !== knownUserId) throw error;
    service.reachability.reportUnreachable();
    return storedUser;
  }
}

/** Loads the code once, and again after a failure. */
function createChatRunsLoader(service: Service): () => Promise<ChatRuns> {
  let loading: Promise<ChatRuns> | undefined;
  return () => {
    loading ??= import('../service/chat-runs.ts').then(
      ({ ChatRuns: Runs }) => new Runs(service),
      (error: unknown) => {
        loading = undefined;
        throw error;
      },
    );
    return loading;
  };
}

/** Names a chat. If this fails, the old title stays. */
async function createTitle(options: NamingOptions, conversationId: string): Promise<void> {
  await import('../conversation/name-conversation.ts')
    .then(({ nameConversation }) => nameConversation(options, conversationId))
    .catch(() => undefined);
}

/**
 * Synchronizes the library with the service. Resolves when the list of chats is known, or after `maxStartMs`, with a function
 * that stops the synchronization.
 */
async function startSync(service: Service, database: Database, library: Library): Promise<() => void> {
  const sync = new ServerSync({ chats: new Chats(service), database, onChange: (id) => void library.applyRemoteChange(id) });
  library.connectService(sync);
  const started = sync.start();
  void started.then(() => setTimeout(() => library.prepareSearch(), prepareAfterMs));
  await Promise.race([started, new Promise((resolve) => setTimeout(resolve, maxStartMs))]);
  addEventListener('online', sync.syncNow);
  document.addEventListener('visibilitychange', sync.syncNow);
  return () => {
    removeEventListener('online', sync.syncNow);
    document.removeEventListener('visibilitychange', sync.syncNow);
    void sync.close();
  };
}

/** Calls back at the next frame. A hidden page draws no frames, so a timer replaces them. */
export function nextFrame(act: () => void): void {
  if (document.hidden) setTimeout(act, hiddenFrameMs);
  else requestAnimationFrame(() => act());
}
