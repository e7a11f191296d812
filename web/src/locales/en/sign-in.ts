export const signInEnglish = {
  signInTitle: 'Welcome',
  sharedWaits: 'Someone shared a chat with you. Sign in to read it.',
  firstStartTitle: 'Create the first administrator',
  firstStartHint:
    'This service has no administrator yet. If you are setting up the service, enter the one-time token from its log (firstStartToken).',
  firstStartToken: 'One-time token',
  firstStartSubmit: 'Create the key',
  firstStartWrong: 'The token is wrong or was used. The log of the service has the valid one. A restart creates a new one.',
  firstStartEnded: 'An administrator exists now. Sign in with a key.',
  firstStartFailed: 'The token could not be checked. Try again.',
  firstStartKey: 'Key of the administrator',
  firstStartCopy: 'Copy the key',
  firstStartKeyHint: 'Save this key now. It is shown only once.',
  firstStartContinue: 'Continue to the administration',
  signInHint: 'Enter the key that you received. All tabs of this browser use it until you close them.',
  keepSignedIn: 'Keep me signed in',
  keepSignedInHint: 'Until you sign out, everyone who uses this browser can use your access.',
  signingIn: 'Signing in…',
  signInWith: (name: string) => `Sign in with ${name}`,
  orWithKey: 'or with a key',
  signedOutHere: (name: string) => `You are signed out here. You may still be signed in to ${name} in this browser.`,
  signOutThere: (name: string) => `Sign out of ${name} too`,
  signInStale: 'This sign-in was not started in this tab, or it took too long. Start again.',
  signInForeign: (name: string) => `The sign-in response is not from ${name} and was ignored. Sign in again.`,
  signInDeclined: (name: string) => `The sign-in was canceled or declined at ${name}.`,
  signInRejected: (name: string, why: string) => `${name} rejected the sign-in: ${why}`,
  signInUnavailable: (name: string) => `${name} cannot be reached right now. Try again in a moment.`,
  signInUnreachable: (name: string) =>
    `${name} does not respond to this page. If this continues, tell your administrator: ${name} must accept requests from this address.`,
  signInUnusable: (name: string) => `The sign-in response from ${name} cannot be used. Tell your administrator.`,
  signInNeedsHttps: (name: string) =>
    `Signing in with ${name} works only over HTTPS. Open this page with an address that starts with https://.`,
  keyLabel: (project: string) => `${project} (key)`,
  linkForOtherUser: (here: string, there: string) =>
    `You are signed in as ${here}. This link signs you in as ${there}. Do you want to switch?`,
  linkForUnknownUser: (here: string) =>
    `You are signed in as ${here}. This link signs you in as another user. Do you want to switch?`,
  linkRejected: (here: string) => `The key in this link doesn’t work. You stay signed in as ${here}.`,
  switchUser: 'Switch',
  stay: 'Stay signed in',
};

export type SignInStrings = typeof signInEnglish;
