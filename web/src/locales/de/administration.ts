import type { AdminStrings } from '../en/administration.ts';

export const adminGerman: AdminStrings = {
  title: 'Verwaltung',
  sections: 'Bereiche der Verwaltung',
  unknownSection: 'Diesen Bereich gibt es nicht. Wähle oben einen anderen.',
  unavailable:
    'Dieser Dienst kann seine Konfiguration im laufenden Betrieb nicht ändern, weil er keine Datenbank hat. Ändere stattdessen seine Konfigurationsdatei.',
  readOnly: 'Du kannst hier alles sehen, aber nichts ändern.',

  start: 'Überblick',
  welcome: 'Willkommen. Richten wir deinen Dienst ein',
  startIntro: 'Mit diesen Schritten können Menschen und Programme loslegen. Du kannst später alles ändern.',
  firstModel: 'Modell hinzufügen',
  firstModelHint: 'Du brauchst die Adresse eines Anbieters und seinen Schlüssel. Dann kannst du es mit einem Klick testen.',
  firstKey: 'Schlüssel anlegen',
  firstKeyHint: 'Damit meldet sich eine Person an, oder ein Programm ruft deine Modelle auf.',
  firstLimits: 'Limits festlegen',
  firstLimitsHint: 'Lege fest, wie viel jeder Benutzer einer Rolle nutzen kann. Ohne Limits nutzen alle so viel, wie sie wollen.',
  done: (count) => `Erledigt: bisher ${count}.`,

  kinds: {
    models: {
      title: 'Modelle',
      intro: 'Die Sprachmodelle, die Menschen und Programme nutzen können.',
      add: 'Modell hinzufügen',
      empty: 'Es gibt noch keine Modelle. Füge das erste hinzu: Du brauchst die Adresse eines Anbieters und seinen Schlüssel.',
      idHint: 'Der Name, den Programme verwenden, etwa gpt-5. Er lässt sich später nicht ändern.',
    },
    applications: {
      title: 'Anwendungen',
      intro: 'Eigene Dienste, die wie ein Modell antworten, und Modelle mit Anweisungen und Werkzeugen (Quick Apps).',
      add: 'Anwendung hinzufügen',
      empty: 'Es gibt noch keine Anwendungen. Füge eine hinzu, wenn du einen Dienst hast, der wie ein Modell antwortet.',
      idHint: 'Der Name, den Programme verwenden. Er lässt sich später nicht ändern.',
    },
    addons: {
      title: 'Add-ons',
      intro: 'Webdienste, die Modelle als Werkzeuge aufrufen können.',
      add: 'Add-on hinzufügen',
      empty: 'Es gibt noch keine Add-ons. Füge eines hinzu, wenn ein Modell einen Webdienst aufrufen soll.',
      idHint: 'Der Name, den Programme verwenden. Er lässt sich später nicht ändern.',
    },
    prompts: {
      title: 'Prompts',
      intro: 'Texte, die alle in ihre Nachrichten einfügen können.',
      add: 'Prompt hinzufügen',
      empty: 'Es gibt noch keine Prompts. Füge Texte hinzu, die viele brauchen, etwa die Gliederung eines Berichts.',
      idHint: 'Der Name, der bei der Auswahl erscheint. Er lässt sich später nicht ändern.',
      deleteEffect: 'Er lässt sich dann nicht mehr in Nachrichten einfügen.',
    },
    roles: {
      title: 'Rollen',
      intro: 'Eine Rolle bestimmt, welche Modelle ihre Personen und Schlüssel nutzen können und wie viel.',
      add: 'Rolle hinzufügen',
      empty:
        'Noch keine Rolle hat Einstellungen. Die Rollen „default“, „admin“ und „auditor“ gelten auch ohne Einstellungen. Lege „default“ an, um alle zu begrenzen, oder eine Rolle für eine Gruppe.',
      idHint:
        'Der Name der Rolle in Schlüsseln und bei deinem Identitätsanbieter. Die Einstellungen von „default“ gelten für alle ohne Rolle und für Rollen ohne Einstellungen.',
      deleteEffect:
        'Ihre Limits und ihre Erlaubnis, Schlüssel anzulegen, gelten dann nicht mehr. Stattdessen gelten die Einstellungen der Rolle „default“, falls es welche gibt.',
    },
    keys: {
      title: 'Schlüssel',
      intro:
        'Mit Schlüsseln melden sich Personen an, oder Programme rufen deine Modelle auf. Alle Schlüssel eines Teams teilen Gespräche, Dateien und Gedächtnis.',
      add: 'Schlüssel anlegen',
      empty: 'Es gibt noch keine Schlüssel. Lege für jede Person oder jedes Programm einen an.',
      idHint: '',
      deleteEffect: 'Personen und Programme, die ihn verwenden, verlieren sofort den Zugang.',
    },
    projects: {
      title: 'Teams',
      intro:
        'Ein Team ist eine Gruppe von Schlüsseln und Benutzern mit gemeinsamen Limits und Verantwortlichen. In der Konfiguration heißt es „project“.',
      add: 'Team hinzufügen',
      empty:
        'Noch kein Team hat Einstellungen. Ein Schlüssel kann auch zu einem Team ohne Einstellungen gehören. Füge ein Team hinzu, um seinen Verbrauch zu begrenzen.',
      idHint: 'Der Name des Teams in seinen Schlüsseln.',
      deleteEffect: 'Seine Limits und Verantwortlichen gelten dann nicht mehr. Seine Schlüssel funktionieren weiter.',
    },
    users: {
      title: 'Benutzer-Limits',
      intro: 'Limits für einzelne Benutzer, zusätzlich zu denen ihrer Rollen. Das strengste gilt.',
      add: 'Limits für einen Benutzer hinzufügen',
      empty: 'Noch hat kein Benutzer eigene Limits. Füge Limits für eine Person hinzu.',
      idHint: 'Die ID des Benutzers, wie sie unter „Verbrauch“ steht.',
      deleteEffect: 'Diese Limits gelten dann nicht mehr für den Benutzer. Die Limits der Rollen gelten weiter.',
    },
    'identity-providers': {
      title: 'Anmeldung',
      intro: 'Identitätsanbieter, deren Benutzer sich anmelden können.',
      add: 'Identitätsanbieter hinzufügen',
      empty:
        'Noch kann sich niemand mit einem Konto anmelden. Füge deinen Identitätsanbieter hinzu, etwa Keycloak oder Entra ID.',
      idHint: 'Ein kurzer Name für diesen Anbieter. Er ist Teil der Benutzer-IDs und lässt sich später nicht ändern.',
      deleteEffect: 'Seine Benutzer können sich nicht mehr anmelden, und wer angemeldet ist, verliert sofort den Zugang.',
    },
  },
  addEntry: 'Hinzufügen',
  emptyKind: (title) => `${title}: noch nichts da. Füge den ersten Eintrag hinzu.`,
  idHint: 'Ein kurzer Name. Er lässt sich später nicht ändern.',

  search: 'Suchen',
  count: (count) => (count === '1' ? 'Ein Eintrag' : `${count} Einträge`),
  found: (count, all) => `${count} von ${all} Einträgen`,
  showMore: 'Mehr anzeigen',
  showAll: (count) => `Alle ${count} anzeigen`,
  name: 'Name',
  summary: 'Kurz gesagt',
  source: 'Herkunft',
  fromFile: 'aus einer Datei',
  health: 'Zustand',
  healthStates: { good: 'Läuft', warning: 'Hatte Fehler', bad: 'Schlüssel oder Konto abgelehnt' },

  test: 'Testen',
  testNamed: (id) => `${id} testen`,
  testing: 'Test läuft …',
  testPassed: (time) => `Antwort nach ${time}`,
  testFailed: (time) => `Fehler nach ${time}`,
  vectorLength: (count) => `Ein Embedding mit ${count} Zahlen.`,

  id: 'ID',
  settings: 'Einstellungen',
  view: 'Ansicht',
  asForm: 'Formular',
  asJson: 'JSON',
  save: 'Speichern',
  saving: 'Wird gespeichert …',
  saved: 'Gespeichert. Die Änderung gilt innerhalb einer Sekunde überall.',
  unsaved: 'Du hast ungespeicherte Änderungen.',
  allSaved: 'Alles ist gespeichert.',
  leaveQuestion: 'Du hast ungespeicherte Änderungen. Ohne Speichern verlassen?',
  discard: 'Ohne Speichern verlassen',
  invalid: (count) =>
    count === 1
      ? 'Nicht gespeichert. Eine Einstellung muss korrigiert werden.'
      : `Nicht gespeichert. ${count} Einstellungen müssen korrigiert werden.`,
  conflict: 'Jemand anders hat das geändert',
  changedMeanwhile:
    'Es wurde geändert, während du daran gearbeitet hast. Deine Eingaben sind noch da. Das sind die anderen Änderungen:',
  changedMeanwhileBy: (author) =>
    `${author} hat es geändert, während du daran gearbeitet hast. Deine Eingaben sind noch da. Das sind die anderen Änderungen:`,
  contested: 'Das hast du auch geändert. Dein Wert bleibt.',
  mergeChanges: 'Diese Änderungen zu meinen übernehmen',
  discardOwn: 'Meine Eingaben verwerfen',
  notSet: 'nicht gesetzt',
  hiddenSecret: 'verborgen',
  everything: 'Alles',

  fileNote:
    'Dieser Eintrag steht in einer Konfigurationsdatei und lässt sich nur dort ändern. Kopiere ihn in die Datenbank, um ihn auf dieser Seite zu ändern.',
  move: 'In die Datenbank kopieren',
  moved: 'Der Eintrag ist kopiert. Entferne ihn jetzt aus der Datei. Danach kannst du ihn hier ändern.',
  delete: 'Löschen',
  deleteQuestion: (name, effect) => `„${name}“ löschen? ${effect}`,
  deleteEffect: 'Gespräche und Programme, die es verwenden, bekommen sofort Fehler.',
  deleteInUse: (id, users) =>
    `Andere Einträge verweisen auf „${id}“: ${users}. Wenn du trotzdem löschst, funktionieren sie vielleicht nicht mehr oder haben andere Limits, bis du sie korrigierst.`,
  deleteAnyway: 'Trotzdem löschen',
  deleted: (id) => `${id} ist gelöscht.`,

  keyOwner: 'Schlüssel von',
  projectKeys: 'Teams',
  userKeys: 'Benutzern',
  noUserKeys:
    'Noch kein Benutzer hat einen Schlüssel angelegt. Rollen bestimmen, wer das darf: siehe „Schlüssel, die Benutzer anlegen“ in einer Rolle.',
  teamHasKey: (team, name) =>
    `Das Team „${team}“ hat schon den Schlüssel „${name}“. Personen, die sich mit einem Schlüssel dieses Teams anmelden, sehen und ändern dieselben Gespräche, Dateien und dasselbe Gedächtnis.`,
  startsWith: 'Beginnt mit',
  forever: 'kein Ende',
  expired: 'abgelaufen',
  state: 'Hinweise',
  lastUse: 'Zuletzt benutzt',
  never: 'nie',
  neverUsed: 'Noch nicht benutzt',
  lastUsed: (time) => `Zuletzt benutzt: ${time}`,
  blocked: 'Gesperrt',
  block: 'Sperren',
  unblock: 'Entsperren',
  keyBlocked: 'Der Schlüssel ist gesperrt. Seine Anfragen enden innerhalb von Sekunden.',
  keyUnblocked: 'Der Schlüssel funktioniert wieder.',
  overlap: 'Der alte Schlüssel gilt noch',
  overlapName: (seconds) =>
    ({ 0: 'gar nicht', 3600: 'eine Stunde', 86400: 'einen Tag', 604800: 'eine Woche' })[seconds] ?? `${seconds} Sekunden`,
  rotateQuestion: 'Diesen Schlüssel ersetzen? Der neue wird nur einmal angezeigt.',
  rotate: 'Schlüssel ersetzen',
  newKey: 'Der neue Schlüssel',
  copyKey: 'Schlüssel kopieren',
  shownOnce:
    'Kopiere ihn jetzt. Er wird nur einmal angezeigt. Ein Programm kann damit deine Modelle aufrufen. Eine Person, die sich hier damit anmeldet, sieht alle Gespräche, Dateien und das Gedächtnis seines Teams.',
  keySaved: 'Ich habe ihn gesichert',
  actions: 'Aktionen',
  user: 'Benutzer',
  revoke: 'Widerrufen',
  revokeQuestion: (user) => `Diesen Schlüssel von ${user} widerrufen? Er gilt innerhalb einer Sekunde nicht mehr.`,
  revoked: 'Der Schlüssel ist widerrufen.',
  blockUser: 'Benutzer sperren',
  blockUserQuestion: (user) =>
    `${user} sperren? Alle Schlüssel und Anmeldungen gelten dann nicht mehr. Die Daten bleiben, und du kannst die Sperre später aufheben.`,
  userBlocked: (user) => `${user} ist gesperrt.`,
  userUnblocked: (user) => `${user} ist nicht mehr gesperrt.`,
  unblockNamed: (user) => `${user} entsperren`,
  blockedUsers: 'Gesperrte Benutzer',
  reason: 'Grund',
  since: 'Seit',

  limits: 'Limits nach Rolle',
  limitsIntro:
    'Wie viel jeder Benutzer einer Rolle von jedem Modell nutzen kann. Wähle, was begrenzt wird, und schreib eine Zahl in eine Zelle.',
  limitsNote:
    'Eine graue Zahl gilt durch die Zeile „Alle übrigen“ oder durch die Rolle „default“. Eine eigene Zahl eines Modells ersetzt sie. 0 heißt: kein Zugang.',
  limitKind: 'Limit',
  limitFor: (role, deployment) => `${role}: ${deployment}`,
  noLimit: 'kein Limit',
  badLimit: 'Ein Limit muss eine ganze Zahl sein oder leer bleiben.',
  changedCells: (count) => (count === 1 ? 'Eine Zelle ist nicht gespeichert.' : `${count} Zellen sind nicht gespeichert.`),
  deployment: 'Modell oder Anwendung',
  allOthers: 'Alle übrigen',
  noRoles: 'Noch keine Rolle hat Limits. Lege „default“ an, um alle zu begrenzen.',
  addRole: 'Rolle hinzufügen',

  alerts: 'Warnungen',
  alertsIntro:
    'Parley schickt eine Nachricht an eine Webadresse, wenn der Verbrauch einen festgelegten Prozentsatz eines Limits erreicht.',
  noAlerts: 'Es gibt noch keine Warnungen.',
  limit: 'Limit',
  threshold: 'Gesendet bei',
  receiver: 'Empfänger',
  alertScopes: {
    project: 'Team',
    key: 'Schlüssel',
    role: 'Jeder Benutzer mit der Rolle',
    user: 'Benutzer',
    '*': 'Jeder Benutzer',
  },
  notSent: 'In den letzten 7 Tagen nichts gesendet',
  lastSent: (time) => `Zuletzt gesendet: ${time}`,
  sendingFailed: (time, error) => `Letzter Fehler${time && ` ${time}`}: ${error}`,
  nextAttempt: (time, count) =>
    count === '1' ? `Nächster Versuch: ${time}` : `Nächster Versuch: ${time}, ${count} Nachrichten warten`,
  addAlert: 'Warnung hinzufügen',
  addAlertIntro:
    'Warnungen stehen in der Konfigurationsdatei. Füge diese Zeilen hinzu und passe sie an. Sie gelten, sobald du die Datei speicherst.',
  alertFields: {
    of: 'wessen Limit. Zum Beispiel project:search (ein Team), key:ci, role:staff, user:ada oder * für jeden Benutzer.',
    window: 'welches Limit. Zum Beispiel cost.month, tokens.day oder requests.hour:gpt für ein Modell.',
    at: 'wann die Nachricht gesendet wird. 0.8 heißt: 80 % des Limits sind verbraucht. 1 heißt: Es ist ganz verbraucht.',
    url: 'die Webadresse, die die Nachricht bekommt. Sie kann in deinem eigenen Netz sein.',
    secret: 'signiert die Nachricht, damit der Empfänger prüfen kann, dass sie von Parley ist.',
  },

  sharedApplications: 'Geteilte Anwendungen',
  sharedIntro:
    'Anwendungen, die Benutzer erstellt haben und mit anderen teilen. Ihre Besitzer entscheiden, wer sie nutzen kann. Jede Änderung steht im Protokoll unter „Betrieb“.',
  nothingShared: 'Es ist keine Anwendung geteilt.',
  application: 'Anwendung',
  applicationOwner: 'Besitzer',
  usedBy: 'Genutzt von',
  lastChange: 'Letzte Änderung',
  changes: 'Änderungen',
  changesIntro:
    'Wer was auf dieser Seite oder mit der Kommandozeile geändert hat. Die meisten Änderungen kannst du rückgängig machen.',
  noChanges: 'Noch wurde nichts geändert. Änderungen erscheinen hier, sobald jemand etwas speichert.',
  older: 'Ältere Änderungen anzeigen',
  details: 'Einstellungen anzeigen',
  changeActions: {
    saved: 'Gespeichert',
    deleted: 'Gelöscht',
    applied: 'Aus einer Datei übernommen',
    rotated: 'Schlüssel ersetzt',
    reset: 'Verbrauch zurückgesetzt',
    rolled_back: 'Rückgängig gemacht',
  },
  writeActions: { created: 'Angelegt:', updated: 'Geändert:', deleted: 'Gelöscht:' },
  undo: 'Rückgängig machen',
  undoNamed: (time) => `Die Änderung vom ${time} rückgängig machen`,
  undoQuestion: 'Diese Änderung rückgängig machen? Die vorherigen Einstellungen gelten innerhalb einer Sekunde wieder.',
  undone: 'Die Änderung ist rückgängig gemacht.',
  spending: 'Verbrauch aller',

  inUse: (users) =>
    `Nicht möglich, weil andere Einträge von den jetzigen Einstellungen abhängen: ${users}. Ändere zuerst diese Einträge.`,
  storeUnavailable:
    'Der Dienst kann das gerade nicht laden oder speichern, zum Beispiel weil seine Datenbank nicht erreichbar ist. Deine Eingaben bleiben. Versuch es etwas später noch einmal.',
  errors: {
    id_taken: 'Es gibt schon einen Eintrag mit dieser ID. Wähle eine andere.',
    configured_in_file: 'Dieser Eintrag steht in einer Konfigurationsdatei und lässt sich nur dort ändern.',
    last_administrator:
      'Nicht möglich, weil dann niemand mehr den Dienst verwalten könnte. Gib zuerst einem anderen Schlüssel oder einer Anmeldung die Rolle admin.',
    change_overwritten: 'Nicht möglich, weil eine spätere Änderung denselben Eintrag betraf. Mach zuerst die spätere rückgängig.',
    key_revoked:
      'Nicht möglich, weil ein Schlüssel durch Rückgängigmachen nicht wieder gültig wird. Ist er gesperrt, wähle „Entsperren“. Ist er abgelaufen, ändere „Gültig bis“. Wurde er gelöscht oder ersetzt, lege einen neuen an.',
    entry_not_found: 'Diesen Eintrag gibt es nicht mehr. Vielleicht hat ihn jemand gelöscht.',
    key_not_found: 'Diesen Schlüssel gibt es nicht mehr. Vielleicht hat ihn jemand gelöscht.',
    change_not_found: 'Diese Änderung ist nicht mehr gespeichert.',
  },
};
