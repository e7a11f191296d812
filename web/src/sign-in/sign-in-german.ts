import type { SignInStrings } from './sign-in-english.ts';

export const signInGerman: SignInStrings = {
  signInTitle: 'Willkommen',
  sharedWaits: 'Jemand hat ein Gespräch mit dir geteilt. Melde dich an, um es zu lesen.',
  signInHint: 'Gib den Schlüssel ein, den du bekommen hast. Er bleibt in diesem Tab und wird vergessen, wenn du ihn schließt.',
  signingIn: 'Anmeldung läuft …',
  signInWith: (name) => `Mit ${name} anmelden`,
  orWithKey: 'oder mit einem Schlüssel',
  signedOutHere: (name) => `Du bist hier abgemeldet. ${name} kennt dich in diesem Browser vielleicht noch.`,
  signOutThere: (name) => `Auch bei ${name} abmelden`,
  signInStale: 'Diese Anmeldung wurde nicht in diesem Tab begonnen, oder sie hat zu lange gedauert. Beginne noch einmal.',
  signInForeign: (name) => `Was zurückkam, stammt nicht von ${name}. Es wurde nicht verwendet.`,
  signInDeclined: (name) => `Die Anmeldung wurde bei ${name} abgebrochen oder abgelehnt.`,
  signInRefused: (name, why) => `${name} hat die Anmeldung abgelehnt: ${why}`,
  signInUnavailable: (name) => `${name} ist gerade nicht zu erreichen. Versuche es gleich noch einmal.`,
  signInUnreachable: (name) =>
    `${name} antwortet dieser Seite nicht. Bleibt es dabei, sag es denen, die diesen Dienst betreiben: ${name} muss Anfragen von dieser Adresse annehmen.`,
  signInUnusable: (name) => `${name} gab nichts, was sich verwenden lässt. Sag es denen, die diesen Dienst betreiben.`,
  signInNeedsHttps: (name) => `Die Anmeldung mit ${name} geht nur über https. Öffne diese Seite unter ihrer https-Adresse.`,
  keyLabel: (project) => `${project} (Schlüssel)`,
  linkOfAnother: (here, there) =>
    `Du bist als ${here} angemeldet. Dieser Link meldet dich als ${there} an. Möchtest du wechseln?`,
  linkOfUnknown: (here) =>
    `Du bist als ${here} angemeldet. Dieser Link meldet dich unter einem anderen Namen an. Möchtest du wechseln?`,
  linkRefused: (here) =>
    `Dieser Link enthält einen Schlüssel, den dieser Dienst nicht annimmt. Du bleibst als ${here} angemeldet.`,
  switchUser: 'Wechseln',
  stay: 'Angemeldet bleiben',
};
