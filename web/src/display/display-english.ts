/** What is said where somebody chooses how the page is drawn. */
export const displayEnglish = {
  textSize: 'Text size',
  textSizes: { small: 'Small', medium: 'Medium', large: 'Large', largest: 'Largest' },
  density: 'Spacing',
  densities: { roomy: 'Roomy', compact: 'Compact' },
  contrast: 'Contrast',
  contrasts: { system: 'As the system', more: 'High' },
  motion: 'Motion',
  motions: { system: 'As the system', less: 'Reduced' },
  notices: 'When an answer is ready',
  noticesOff: 'Say nothing',
  noticesOn: 'Notify me',
  noticesWhen: 'Only while you look at something else.',
  noticesRefused: 'The browser does not allow notifications of this page. Allow them in its settings for this site.',
  followUps: 'What to ask next',
  followUpsOff: 'Suggest nothing',
  followUpsOn: 'Suggest questions',
  followUpsMean: (model: string) => `Behind each answer ${model} is asked for up to three questions. That takes tokens of yours.`,
  dictation: 'Dictation',
  dictationOff: 'Off',
  dictationMachine: 'On this machine',
  dictationMaker: 'By the browser’s maker too',
  dictationMeans: {
    off: 'Messages are typed.',
    machine: 'There is a microphone beside the message if your browser turns speech into text by itself.',
    maker:
      'Where your browser cannot do it by itself, what you say is sent to its maker, who turns it into text. Do not dictate what they may not hear.',
  },
};

export type DisplayStrings = typeof displayEnglish;
