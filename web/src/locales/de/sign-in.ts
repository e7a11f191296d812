import type { SignInStrings } from '../en/sign-in.ts';

export const signInGerman: SignInStrings = {
  signInTitle: 'Willkommen',
  sharedWaits: 'Jemand hat ein Gespräch mit dir geteilt. Melde dich an, um es zu lesen.',
  firstStartTitle: 'Den ersten Administrator anlegen',
  firstStartHint:
    'Dieser Dienst hat noch keinen Administrator. Wenn du ihn einrichtest, gib das Einmal-Token aus seinem Protokoll ein (firstStartToken).',
  firstStartToken: 'Einmal-Token',
  firstStartSubmit: 'Schlüssel erstellen',
  firstStartWrong:
    'Das Token ist falsch oder wurde schon verwendet. Das gültige steht im Protokoll des Dienstes. Ein Neustart erzeugt ein neues.',
  firstStartEnded: 'Es gibt inzwischen einen Administrator. Melde dich mit einem Schlüssel an.',
  firstStartFailed: 'Das Token konnte nicht geprüft werden. Versuche es noch einmal.',
  firstStartKey: 'Schlüssel des Administrators',
  firstStartCopy: 'Schlüssel kopieren',
  firstStartKeyHint: 'Speichere diesen Schlüssel jetzt. Er wird nur einmal angezeigt.',
  firstStartContinue: 'Weiter zur Verwaltung',
  signInHint: 'Gib den Schlüssel ein, den du bekommen hast. Alle Tabs dieses Browsers nutzen ihn, bis du sie schließt.',
  keepSignedIn: 'Angemeldet bleiben',
  keepSignedInHint: 'Bis du dich abmeldest, kann jeder, der diesen Browser benutzt, deinen Zugang nutzen.',
  signingIn: 'Anmeldung läuft …',
  signInWith: (name) => `Mit ${name} anmelden`,
  orWithKey: 'oder mit einem Schlüssel',
  signedOutHere: (name) => `Du bist hier abgemeldet. Bei ${name} bist du in diesem Browser vielleicht noch angemeldet.`,
  signOutThere: (name) => `Auch bei ${name} abmelden`,
  signInStale: 'Diese Anmeldung wurde nicht in diesem Tab begonnen, oder sie hat zu lange gedauert. Beginne von vorn.',
  signInForeign: (name) => `Die Antwort auf die Anmeldung stammt nicht von ${name} und wurde verworfen. Melde dich neu an.`,
  signInDeclined: (name) => `Die Anmeldung wurde bei ${name} abgebrochen oder abgelehnt.`,
  signInRejected: (name, why) => `${name} hat die Anmeldung abgelehnt: ${why}`,
  signInUnavailable: (name) => `${name} ist gerade nicht erreichbar. Versuche es gleich noch einmal.`,
  signInUnreachable: (name) =>
    `${name} antwortet dieser Seite nicht. Wenn das so bleibt, sag es deinem Administrator: ${name} muss Anfragen von dieser Adresse annehmen.`,
  signInUnusable: (name) => `Die Antwort von ${name} auf die Anmeldung ist nicht verwendbar. Sag es deinem Administrator.`,
  signInNeedsHttps: (name) =>
    `Die Anmeldung mit ${name} funktioniert nur über HTTPS. Öffne diese Seite mit einer Adresse, die mit https:// beginnt.`,
  keyLabel: (project) => `${project} (Schlüssel)`,
  linkForOtherUser: (here, there) =>
    `Du bist als ${here} angemeldet. Dieser Link meldet dich als ${there} an. Möchtest du wechseln?`,
  linkForUnknownUser: (here) =>
    `Du bist als ${here} angemeldet. Dieser Link meldet dich als anderer Benutzer an. Möchtest du wechseln?`,
  linkRejected: (here) => `Der Schlüssel in diesem Link funktioniert nicht. Du bleibst als ${here} angemeldet.`,
  switchUser: 'Wechseln',
  stay: 'Angemeldet bleiben',
};
