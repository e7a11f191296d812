import { isJsonObject } from '#base/json/json.ts';
import { adminRole } from '#contract/roles.ts';
import { forgetDrafts, keptOutboxOf } from '../chat/composer/drafts.ts';
import { Asking } from '../conversation/asking.ts';
import { type Database, forgetfulDatabase, openDatabase } from '../conversation/database.ts';
import { Library } from '../conversation/library.ts';
import type { Naming } from '../conversation/name-conversation.ts';
import { otherTabsOf } from '../conversation/other-tabs.ts';
import { Outbox } from '../conversation/outbox.ts';
import { ServerSync } from '../conversation/server-sync.ts';
import { forgetKnownUser, type KnownUser, noteKnownUser, readKnownUser } from '../offline/known-user.ts';
import { Chats } from '../service/chats.ts';
import { type Deployment, listDeployments } from '../service/deployments.ts';
import { faultOf } from '../service/fault.ts';
import { isFromBetween } from '../service/is-from-between.ts';
import type { Service } from '../service/service.ts';

/** What is there from signing in to signing out. */
export interface Session {
  readonly service: Service;
  readonly library: Library;
  readonly asking: Asking;
  readonly outbox: Outbox;
  readonly deployments: readonly Deployment[];
  /** As the service names them. */
  readonly user: string;
  /** The model that names conversations, where one is set and open to the user. */
  readonly titleModel?: string;
  /** Whether conversations can be shared by links. */
  readonly sharesChats: boolean;
  /** Has the role `admin`. */
  readonly isAdmin: boolean;
  /** Sends what the service has not yet, and leaves nothing of it in this browser. */
  readonly leave: () => void;
  /** The browser lets the page keep nothing. */
  readonly isStorageGone: boolean;
}

const hiddenFrameMs = 400;
/** The page is shown with what the browser has if the service takes longer. */
const longestStartMs = 1500;
/** By then the page can be used. */
const prepareAfterMs = 1000;

/**
 * Learns who the user is and what is open to them. If the service cannot be reached, that is what it said last, as far as it said
 * so of the same sign-in (`knownAs`). Throws ServiceFault.
 */
export async function openSession(service: Service, knownAs: string | undefined): Promise<Session> {
  const { user, info, deployments } = await learnUser(service, knownAs);
  const { titleModel } = info;
  const canName = deployments.some(({ id }) => id === titleModel);
  const sharesChats = info.sharesChats === true;
  const isAdmin = Array.isArray(info.roles) && info.roles.includes(adminRole);
  const database = await openDatabase(user).catch(() => undefined);
  const library = new Library(database ?? forgetfulDatabase(), otherTabsOf(user));
  await library.load();
  const leaveSync = database === undefined ? undefined : await followServer(service, database, library);
  const asking = new Asking({
    ...{ service, library, nextFrame, reasons: (id) => deployments.some((each) => each.id === id && each.reasons) },
    ...(canName && { onAnswered: (id) => void nameIt({ service, library, model: String(titleModel) }, id) }),
  });
  const outbox = new Outbox({ library, asking, kept: keptOutboxOf(user) });
  return {
    ...{ service, library, asking, outbox, deployments, user, sharesChats, isAdmin, isStorageGone: database === undefined },
    ...(canName && { titleModel: String(titleModel) }),
    leave() {
      library.close();
      outbox.close();
      leaveSync?.();
      forgetKnownUser(user);
      forgetDrafts(user);
    },
  };
}

async function learnUser(service: Service, knownAs: string | undefined): Promise<KnownUser> {
  try {
    const [told, deployments] = await Promise.all([service.json('v1/user/info'), listDeployments(service)]);
    const info = isJsonObject(told) ? told : {};
    const known = { user: isJsonObject(told) ? String(told.user) : '', info, deployments };
    noteKnownUser(known);
    return known;
  } catch (thrown) {
    const { status } = faultOf(thrown);
    const known = readKnownUser();
    const isAway = status === 0 || isFromBetween(status);
    if (!isAway || known === undefined || known.user !== knownAs) throw thrown;
    service.reach.noteAway();
    return known;
  }
}

/** A title is no reason for a fault: where it cannot be had, the old one stays. */
async function nameIt(naming: Naming, conversationId: string): Promise<void> {
  await import('../conversation/name-conversation.ts')
    .then(({ nameConversation }) => nameConversation(naming, conversationId))
    .catch(() => undefined);
}

/** Has the library the same on every device; gives what ends that. Resolves when it knows what there is, or after a short while. */
async function followServer(service: Service, database: Database, library: Library): Promise<() => void> {
  const sync = new ServerSync({ chats: new Chats(service), database, onChange: (id) => void library.noteChange(id) });
  library.follow(sync);
  const started = sync.start();
  void started.then(() => setTimeout(() => library.prepareSearch(), prepareAfterMs));
  await Promise.race([started, new Promise((resolve) => setTimeout(resolve, longestStartMs))]);
  addEventListener('online', sync.hurry);
  document.addEventListener('visibilitychange', sync.hurry);
  return () => {
    removeEventListener('online', sync.hurry);
    document.removeEventListener('visibilitychange', sync.hurry);
    void sync.leave();
  };
}

/** A page in the background draws no frames; what comes is taken in nevertheless. */
export function nextFrame(act: () => void): void {
  if (document.hidden) setTimeout(act, hiddenFrameMs);
  else requestAnimationFrame(() => act());
}
