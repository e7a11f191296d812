import { isJsonObject } from '#base/json.ts';
import { adminRole } from '#contract/roles.ts';
import { Asking } from '../conversation/asking.ts';
import { forgetfulDatabase, openDatabase } from '../conversation/database.ts';
import { Library } from '../conversation/library.ts';
import { otherTabsOf } from '../conversation/other-tabs.ts';
import { type Deployment, listDeployments } from '../service/deployments.ts';
import type { Service } from '../service/service.ts';

/** What is there from signing in to signing out. */
export interface Session {
  readonly service: Service;
  readonly library: Library;
  readonly asking: Asking;
  readonly deployments: readonly Deployment[];
  /** Has the role `admin`. */
  readonly isAdmin: boolean;
  /** The browser lets the page keep nothing. */
  readonly isStorageGone: boolean;
}

const hiddenFrameMs = 400;

/** Learns who the user is and what is open to them. Throws ServiceFault. */
export async function openSession(service: Service): Promise<Session> {
  const [info, deployments] = await Promise.all([service.json('v1/user/info'), listDeployments(service)]);
  const user = isJsonObject(info) ? String(info.user) : '';
  const isAdmin = isJsonObject(info) && Array.isArray(info.roles) && info.roles.includes(adminRole);
  const database = await openDatabase(user).catch(() => undefined);
  const library = new Library(database ?? forgetfulDatabase(), otherTabsOf(user));
  await library.load();
  return {
    ...{ service, library, deployments, isAdmin, isStorageGone: database === undefined },
    asking: new Asking({ service, library, nextFrame }),
  };
}

/** A page in the background draws no frames; what comes is taken in nevertheless. */
function nextFrame(act: () => void): void {
  if (document.hidden) setTimeout(act, hiddenFrameMs);
  else requestAnimationFrame(() => act());
}
