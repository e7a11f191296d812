export const signInEnglish = {
  signInTitle: 'Welcome',
  sharedWaits: 'Somebody shared a conversation with you. Sign in to read it.',
  signInHint: 'Enter the key you were given. It stays in this tab and is forgotten when you close it.',
  signingIn: 'Signing in…',
  signInWith: (name: string) => `Sign in with ${name}`,
  orWithKey: 'or with a key',
  signedOutHere: (name: string) => `You are signed out here. ${name} may still know you in this browser.`,
  signOutThere: (name: string) => `Sign out of ${name} too`,
  signInStale: 'This sign-in was not begun in this tab, or it took too long. Begin again.',
  signInForeign: (name: string) => `What came back does not come from ${name}. It was not used.`,
  signInDeclined: (name: string) => `The sign-in was cancelled or declined at ${name}.`,
  signInRefused: (name: string, why: string) => `${name} refused the sign-in: ${why}`,
  signInUnavailable: (name: string) => `${name} cannot be reached just now. Try again in a moment.`,
  signInUnreachable: (name: string) =>
    `${name} does not answer this page. If that goes on, tell those who run this service: ${name} must take requests from this address.`,
  signInUnusable: (name: string) => `${name} gave nothing that could be used. Tell those who run this service.`,
  signInNeedsHttps: (name: string) => `Signing in with ${name} works over https only. Open this page by its https address.`,
  keyLabel: (project: string) => `${project} (key)`,
  linkOfAnother: (here: string, there: string) =>
    `You are signed in as ${here}. This link signs you in as ${there}. Do you want to switch?`,
  linkOfUnknown: (here: string) => `You are signed in as ${here}. This link signs you in as another user. Do you want to switch?`,
  linkRefused: (here: string) => `This link has a key that this service does not accept. You stay signed in as ${here}.`,
  switchUser: 'Switch',
  stay: 'Stay signed in',
};

export type SignInStrings = typeof signInEnglish;
