/** Texts of one kind of entries. */
export interface KindTexts {
  readonly title: string;
  readonly intro: string;
  readonly add: string;
  /** Next step if there are no entries. */
  readonly empty: string;
  readonly idHint: string;
  /** Effect of a deletion, if it differs from `deleteEffect`. */
  readonly deleteEffect?: string;
}

/** Texts of the administration. Each other language has the same keys (`AdminStrings`). */
export const adminEnglish = {
  title: 'Administration',
  sections: 'Areas of the administration',
  unknownSection: 'This area does not exist. Choose one above.',
  unavailable:
    'This service cannot change its configuration while it runs, because it has no database. Change its configuration file instead.',
  readOnly: 'You can see everything here, but not change it.',

  start: 'Overview',
  welcome: 'Welcome. Let’s set up your service',
  startIntro: 'These steps are enough for people and programs to start. You can change everything later.',
  firstModel: 'Add a model',
  firstModelHint: 'You need the address of a provider and its key. Then test it with one click.',
  firstKey: 'Create a key',
  firstKeyHint: 'A person signs in with it, or a program calls your models with it.',
  firstLimits: 'Set limits',
  firstLimitsHint: 'Decide how much each user of a role can use. Without limits, everyone can use as much as they like.',
  done: (count: number) => `Done: ${count} so far.`,

  kinds: {
    models: {
      title: 'Models',
      intro: 'The language models that people and programs can use.',
      add: 'Add a model',
      empty: 'There are no models yet. Add the first one: you need the address of a provider and its key.',
      idHint: 'The name that programs use, such as gpt-5. It cannot be changed later.',
    },
    applications: {
      title: 'Applications',
      intro: 'Services of your own that answer like a model, and models with instructions and tools (quick apps).',
      add: 'Add an application',
      empty: 'There are no applications yet. Add one if you have a service that answers like a model.',
      idHint: 'The name that programs use. It cannot be changed later.',
    },
    addons: {
      title: 'Add-ons',
      intro: 'Web services that models can call as tools.',
      add: 'Add an add-on',
      empty: 'There are no add-ons yet. Add one if a model should call a web service.',
      idHint: 'The name that programs use. It cannot be changed later.',
    },
    prompts: {
      title: 'Prompts',
      intro: 'Texts that people can insert into their messages.',
      add: 'Add a prompt',
      empty: 'There are no prompts yet. Add texts that many people need, such as the outline of a report.',
      idHint: 'The name that people see when they choose a prompt. It cannot be changed later.',
      deleteEffect: 'People can no longer insert it into their messages.',
    },
    roles: {
      title: 'Roles',
      intro: 'A role decides which models its people and keys can use, and how much.',
      add: 'Add a role',
      empty:
        'No role has settings yet. The roles “default”, “admin”, and “auditor” work without settings. Add “default” to limit everyone, or a role for one group.',
      idHint:
        'The name of the role in keys and in your identity provider. The settings of “default” apply to everyone without a role, and to roles without settings.',
      deleteEffect:
        'Its limits and its permission to create keys no longer apply. The settings of the role “default” apply instead, if there are any.',
    },
    keys: {
      title: 'Keys',
      intro:
        'People sign in with a key, or programs call your models with it. All keys of a team share chats, files, and memory.',
      add: 'Create a key',
      empty: 'There are no keys yet. Create one for each person or program.',
      idHint: '',
      deleteEffect: 'People and programs that use it lose access immediately.',
    },
    projects: {
      title: 'Teams',
      intro: 'A team is a group of keys and users with shared limits and owners. The configuration calls it “project”.',
      add: 'Add a team',
      empty: 'No team has settings yet. A key can belong to a team without settings. Add a team to limit its usage.',
      idHint: 'The name of the team in its keys.',
      deleteEffect: 'Its limits and owners no longer apply. Its keys still work.',
    },
    users: {
      title: 'User limits',
      intro: 'Limits for single users, in addition to the limits of their roles. The strictest limit applies.',
      add: 'Add limits for a user',
      empty: 'No user has separate limits yet. Add limits for one person.',
      idHint: 'The ID of the user, as shown under Usage.',
      deleteEffect: 'These limits no longer apply to the user. The limits of the roles still apply.',
    },
    'identity-providers': {
      title: 'Sign-in',
      intro: 'Identity providers whose users can sign in.',
      add: 'Add an identity provider',
      empty: 'Users cannot sign in with an account yet. Add your identity provider, such as Keycloak or Entra ID.',
      idHint: 'A short name for this provider. It is part of the user IDs, so it cannot be changed later.',
      deleteEffect: 'Its users can no longer sign in, and signed-in users lose access immediately.',
    },
  } as Readonly<Record<string, KindTexts>>,
  addEntry: 'Add',
  emptyKind: (title: string) => `${title}: no entries yet. Add the first one.`,
  idHint: 'A short name. It cannot be changed later.',

  search: 'Search',
  count: (count: string) => (count === '1' ? 'One entry' : `${count} entries`),
  found: (count: string, all: string) => `${count} of ${all} entries`,
  showMore: 'Show more',
  showAll: (count: string) => `Show all ${count}`,
  name: 'Name',
  summary: 'Summary',
  source: 'Source',
  fromFile: 'from a file',
  health: 'State',
  healthStates: { good: 'Works', warning: 'Had errors', bad: 'Key or account rejected' },

  test: 'Test',
  testNamed: (id: string) => `Test ${id}`,
  testing: 'Testing…',
  testPassed: (time: string) => `Answered in ${time}`,
  testFailed: (time: string) => `Failed after ${time}`,
  vectorLength: (count: string) => `An embedding with ${count} numbers.`,

  id: 'ID',
  settings: 'Settings',
  view: 'View',
  asForm: 'Form',
  asJson: 'JSON',
  save: 'Save',
  saving: 'Saving…',
  saved: 'Saved. The change applies everywhere within a second.',
  unsaved: 'You have unsaved changes.',
  allSaved: 'Everything is saved.',
  leaveQuestion: 'You have unsaved changes. Leave without saving?',
  discard: 'Leave without saving',
  invalid: (count: number) =>
    count === 1 ? 'Not saved. One setting needs a correction.' : `Not saved. ${count} settings need a correction.`,
  conflict: 'Someone else changed this',
  changedMeanwhile: 'It was changed while you were editing. Your input is still here. These are the other changes:',
  changedMeanwhileBy: (author: string) =>
    `${author} changed it while you were editing. Your input is still here. These are the other changes:`,
  contested: 'You changed this too. Your value stays.',
  mergeChanges: 'Add these changes to mine',
  discardOwn: 'Discard my input',
  notSet: 'not set',
  hiddenSecret: 'hidden',
  everything: 'Everything',

  fileNote:
    'A configuration file has this entry, so it can only be changed there. Copy it to the database to change it on this page.',
  move: 'Copy to the database',
  moved: 'The entry is copied. Now remove it from the file. After that, you can change it here.',
  delete: 'Delete',
  deleteQuestion: (name: string, effect: string) => `Delete “${name}”? ${effect}`,
  deleteEffect: 'Chats and programs that use it get errors immediately.',
  deleteInUse: (id: string, users: string) =>
    `Other entries refer to “${id}”: ${users}. If you delete it anyway, they may stop working or have other limits until you correct them.`,
  deleteAnyway: 'Delete anyway',
  deleted: (id: string) => `${id} is deleted.`,

  keyOwner: 'Keys of',
  projectKeys: 'Teams',
  userKeys: 'Users',
  noUserKeys: 'No user has created a key yet. Roles decide who can: see “Keys that users create” in a role.',
  teamHasKey: (team: string, name: string) =>
    `The team “${team}” already has the key “${name}”. People who sign in with a key of this team see and change the same chats, files, and memory.`,
  startsWith: 'Starts with',
  forever: 'no end',
  expired: 'expired',
  state: 'Notes',
  lastUse: 'Last use',
  never: 'never',
  neverUsed: 'Not used yet',
  lastUsed: (time: string) => `Last used ${time}`,
  blocked: 'Blocked',
  block: 'Block',
  unblock: 'Unblock',
  keyBlocked: 'The key is blocked. Its requests end within seconds.',
  keyUnblocked: 'The key works again.',
  overlap: 'The old key still works for',
  overlapName: (seconds: number) =>
    ({ 0: 'no time', 3600: 'an hour', 86400: 'a day', 604800: 'a week' })[seconds] ?? `${seconds} seconds`,
  rotateQuestion: 'Replace this key? The new key is shown only once.',
  rotate: 'Replace the key',
  newKey: 'The new key',
  copyKey: 'Copy the key',
  shownOnce:
    'Copy it now. It is shown only once. A program can call your models with it. A person who signs in here with the key sees all chats, files, and memory of its team.',
  keySaved: 'I have saved it',
  actions: 'Actions',
  user: 'User',
  revoke: 'Revoke',
  revokeQuestion: (user: string) => `Revoke this key of ${user}? It stops working within a second.`,
  revoked: 'The key is revoked.',
  blockUser: 'Block the user',
  blockUserQuestion: (user: string) =>
    `Block ${user}? All keys and sign-ins of this user stop working. The data stays, and you can unblock the user later.`,
  userBlocked: (user: string) => `${user} is blocked.`,
  userUnblocked: (user: string) => `${user} is no longer blocked.`,
  unblockNamed: (user: string) => `Unblock ${user}`,
  blockedUsers: 'Blocked users',
  reason: 'Reason',
  since: 'Since',

  limits: 'Limits by role',
  limitsIntro: 'How much each user of a role can use of each model. Choose a limit, and write a number into a cell.',
  limitsNote:
    'A gray number is the limit of the first row or of the role “default”. A number in the row of a model replaces it. 0 means no access.',
  limitKind: 'Limit',
  limitFor: (role: string, deployment: string) => `${role}: ${deployment}`,
  noLimit: 'no limit',
  badLimit: 'Enter a whole number, or leave the limit empty.',
  changedCells: (count: number) => (count === 1 ? 'One cell is not saved.' : `${count} cells are not saved.`),
  deployment: 'Model or application',
  allOthers: 'All others',
  noRoles: 'No role has limits yet. Add “default” to limit everyone.',
  addRole: 'Add a role',

  alerts: 'Alerts',
  alertsIntro: 'Parley sends a message to a web address when usage reaches a set percentage of a limit.',
  noAlerts: 'There are no alerts yet.',
  limit: 'Limit',
  threshold: 'Sent at',
  receiver: 'Receiver',
  alertScopes: {
    project: 'Team',
    key: 'Key',
    role: 'Each user with the role',
    user: 'User',
    '*': 'Each user',
  } as Readonly<Record<string, string>>,
  notSent: 'No message sent in the last 7 days',
  lastSent: (time: string) => `Last sent ${time}`,
  sendingFailed: (time: string, error: string) => `Last failure${time && ` ${time}`}: ${error}`,
  nextAttempt: (time: string, count: string) =>
    count === '1' ? `Next attempt ${time}` : `Next attempt ${time}, ${count} messages waiting`,
  addAlert: 'Add an alert',
  addAlertIntro:
    'Alerts are in the configuration file. Add these lines and change them as you need. They apply as soon as you save the file.',
  alertFields: {
    of: 'whose limit. For example project:search (a team), key:ci, role:staff, user:ada, or * for each user.',
    window: 'which limit. For example cost.month, tokens.day, or requests.hour:gpt for one model.',
    at: 'when to send the message. 0.8 means that 80% of the limit is used, and 1 that all of it is used.',
    url: 'the web address that gets the message. It can be in your own network.',
    secret: 'signs the message, so that the receiver can check that it is from Parley.',
  } as Readonly<Record<string, string>>,

  sharedApplications: 'Shared applications',
  sharedIntro:
    'Applications that users created and share with other users. Their owners decide who can use them. The audit log under “Operations” records each change.',
  nothingShared: 'No application is shared.',
  application: 'Application',
  applicationOwner: 'Owner',
  usedBy: 'Used by',
  lastChange: 'Last change',
  changes: 'Changes',
  changesIntro: 'All changes from this page and from the command line, with their authors. You can undo most of them.',
  noChanges: 'There are no changes yet. Saved changes appear here immediately.',
  older: 'Show older changes',
  details: 'Show the settings',
  changeActions: {
    saved: 'Saved',
    deleted: 'Deleted',
    applied: 'Applied from a file',
    rotated: 'Key replaced',
    reset: 'Usage reset',
    rolled_back: 'Undone',
  } as Readonly<Record<string, string>>,
  writeActions: { created: 'Created:', updated: 'Changed:', deleted: 'Deleted:' } as Readonly<Record<string, string>>,
  undo: 'Undo',
  undoNamed: (time: string) => `Undo the change of ${time}`,
  undoQuestion: 'Undo this change? The previous settings apply again within a second.',
  undone: 'The change is undone.',
  spending: 'Usage of everyone',

  inUse: (users: string) =>
    `Not possible, because other entries depend on the current settings: ${users}. Change those entries first.`,
  storeUnavailable:
    'The service cannot load or save this right now, for example because its database cannot be reached. Your input stays. Try again in a while.',
  errors: {
    id_taken: 'There is already an entry with this ID. Choose another one.',
    configured_in_file: 'A configuration file has this entry, so it can only be changed there.',
    last_administrator:
      'Not possible, because it would remove the last administrator. First give another key or sign-in the role admin.',
    change_overwritten: 'Not possible, because a later change affected the same entry. Undo the later change first.',
    key_revoked:
      'Not possible, because an undo does not make a key work again. If the key is blocked, choose “Unblock”. If it has expired, change “Works until”. If it was deleted or replaced, create a new key.',
    entry_not_found: 'This entry no longer exists. Someone may have deleted it.',
    key_not_found: 'This key no longer exists. Someone may have deleted it.',
    change_not_found: 'This change is no longer stored.',
  } as Readonly<Record<string, string>>,
};

export type AdminStrings = typeof adminEnglish;
