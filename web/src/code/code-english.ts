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
  way: 'Ask with',
  setKey: 'The key is taken from the environment:',
  inFile: (file: string) => `In ${file}.`,
};

export type CodeWords = typeof codeEnglish;
