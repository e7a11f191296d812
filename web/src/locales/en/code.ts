/** Texts of the dialog for developers. Each other language has the same keys (`CodeStrings`). */
export const codeEnglish = {
  title: (name: string) => `Use ${name} from code`,
  intro: 'Programs and coding agents can use it too, if they let you set an address, a key, and a model.',
  address: 'Address',
  model: 'Model',
  key: 'Key',
  keyHint: 'Ask your administrator for a key. Requests with the key count toward the usage and limits of the key’s team.',
  ownKey: 'The key you are signed in with also works.',
  copyOwnKey: 'Copy my key',
  copyAddress: 'Copy the address',
  copyModel: 'Copy the model',
  client: 'Use with',
  setKey: 'Set the key as an environment variable:',
  inFile: (file: string) => `Save the lines below in ${file}.`,
  createKeyHint:
    'Create your own key below. A program that uses it acts as you: its requests count toward your limits, and it has no more access than you.',
  yourKey: 'Your own key',
  keyName: 'Name (optional)',
  worksFor: 'It works for',
  days: (count: number) => (count === 1 ? 'one day' : count === 365 ? 'a year' : `${count} days`),
  createKey: 'Create a key',
  newKey: 'Your new key',
  copyNow: 'Copy it now. It is not shown again. The lines below already contain it.',
  keyLimit: (count: number) =>
    count === 1
      ? 'You can have one key, and you already have it. Delete it to create another.'
      : `You have ${count} keys, which is the maximum. Delete one to create another.`,
  lastUsed: (when: string) => `last used ${when}`,
  neverUsed: 'not used yet',
  validUntil: (date: string) => `until ${date}`,
  expired: (date: string) => `expired on ${date}`,
  deleteKey: 'Delete',
  deleteKeyNamed: (name: string) => `Delete the key ${name}`,
  keyDeleted: 'The key is deleted. Programs that use it no longer have access.',
  copyExport: 'Copy the line with the key',
};

export type CodeStrings = typeof codeEnglish;
