import type { StoredSignIn } from './sign-in-storage.ts';

/** Credentials that a tab shares with other tabs of this browser: a key, or the tokens of an identity provider. */
export type SharedSignIn =
  | { readonly kind: 'key'; readonly key: string; readonly isPersistent: boolean; readonly user: string }
  | { readonly kind: 'tokens'; readonly signIn: StoredSignIn };

type TabMessage =
  | { readonly kind: 'request' }
  | { readonly kind: 'answer'; readonly shared: SharedSignIn }
  | { readonly kind: 'signed-out'; readonly user: string };

/** Lock that every signed-in tab holds, so that a new tab does not wait for an answer if there is no such tab. */
const lockName = 'parley sign-in';
/** Other tabs answer within a few milliseconds, even in the background. */
const maxWaitMs = 250;

/** Requests the sign-in of another tab. Returns the first accepted answer, or undefined if no tab sends one. */
export async function requestSharedSignIn(
  isAccepted: (shared: SharedSignIn) => boolean = () => true,
): Promise<SharedSignIn | undefined> {
  if (!(await isSignedInElsewhere())) return undefined;
  const { promise, resolve } = Promise.withResolvers<SharedSignIn | undefined>();
  const stop = listenForSharedSignIn(resolve, isAccepted);
  const timer = setTimeout(() => resolve(undefined), maxWaitMs);
  return promise.finally(() => {
    clearTimeout(timer);
    stop();
  });
}

/**
 * Requests the sign-ins of other tabs, and waits for tabs that sign in later, for example after a reload. Calls `onShared` with each
 * accepted sign-in, because the first one may fail. Returns a function that stops this.
 */
export function listenForSharedSignIn(
  onShared: (shared: SharedSignIn) => void,
  isAccepted: (shared: SharedSignIn) => boolean,
): () => void {
  const channel = openChannel();
  channel.onmessage = ({ data }: MessageEvent<TabMessage>) => {
    if (data.kind === 'answer' && isAccepted(data.shared)) onShared(data.shared);
  };
  send(channel, { kind: 'request' });
  return () => channel.close();
}

interface ShareOptions {
  readonly user: string;
  readonly getShared: () => SharedSignIn;
  /** Called when the same user signed out in another tab. */
  readonly onSignOut: () => void;
}

/** Shares the sign-in with other tabs that wait for it or request it. Returns a function that stops this. */
export function shareSignIn({ user, getShared, onSignOut }: ShareOptions): () => void {
  const channel = openChannel();
  channel.onmessage = ({ data }: MessageEvent<TabMessage>) => {
    if (data.kind === 'request') send(channel, { kind: 'answer', shared: getShared() });
    if (data.kind === 'signed-out' && data.user === user) {
      channel.close();
      onSignOut();
    }
  };
  send(channel, { kind: 'answer', shared: getShared() });
  const signedOut = Promise.withResolvers<void>();
  void navigator.locks?.request(lockName, { mode: 'shared' }, () => signedOut.promise);
  return () => {
    channel.close();
    signedOut.resolve();
  };
}

/** Returns whether another tab may be signed in. Without locks, such as over plain HTTP, this is unknown, so it returns true. */
async function isSignedInElsewhere(): Promise<boolean> {
  const state = await navigator.locks?.query().catch(() => undefined);
  return state?.held?.some(({ name }) => name === lockName) !== false;
}

/** Signs the user out in the other tabs. */
export function signOutOtherTabs(user: string): void {
  const channel = openChannel();
  send(channel, { kind: 'signed-out', user });
  channel.close();
}

/** Opens the channel of this service. Its name contains the path, because other services can have the same origin. */
function openChannel(): BroadcastChannel {
  return new BroadcastChannel(`parley sign-in ${new URL('./', location.href).pathname}`);
}

function send(channel: BroadcastChannel, message: TabMessage): void {
  channel.postMessage(message);
}
