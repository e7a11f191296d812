/** Everything the dialog for developers says. Another language has the same keys (`CodeWords`). */
export const codeEnglish = {
  title: (name: string) => `Use ${name} from code`,
  intro: 'Programs and coding agents that let you set an address, a key and a model can ask it too.',
  address: 'Address',
  model: 'Model',
  key: 'Key',
  keyHint: 'Keys are given out by those who run this service. What a program asks with a key counts for its project.',
  ownKey: 'The key you are signed in with works as well.',
  copyOwnKey: 'Copy my key',
  copyAddress: 'Copy the address',
  copyModel: 'Copy the model',
  client: 'Ask with',
  setKey: 'The key is taken from the environment:',
  inFile: (file: string) => `In ${file}.`,
  keyBelow:
    'Make one of your own below. It stands for you: what a program asks with it counts for you, and opens no more than you may.',
  yourKey: 'Your own key',
  keyName: 'Name, if you like',
  worksFor: 'It works for',
  days: (count: number) => (count === 1 ? 'one day' : count === 365 ? 'a year' : `${count} days`),
  makeKey: 'Make a key',
  newKey: 'Your new key',
  once: 'Copy it now: it is shown only here. The lines below have it already.',
  full: (count: number) =>
    count === 1
      ? 'You may have one key, and you have it. Delete it to make another.'
      : `You have ${count} keys, as many as you may. Delete one to make another.`,
  lastUsed: (when: string) => `last used ${when}`,
  neverUsed: 'not used yet',
  until: (date: string) => `until ${date}`,
  expired: (date: string) => `expired on ${date}`,
  deleteKey: 'Delete',
  deleteKeyNamed: (name: string) => `Delete the key ${name}`,
  keyDeleted: 'The key is deleted. Programs that send it are refused from now on.',
  copyExport: 'Copy the line with the key',
};

export type CodeStrings = typeof codeEnglish;
