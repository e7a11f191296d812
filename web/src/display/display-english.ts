/** Texts of the display settings. */
export const displayEnglish = {
  textSize: 'Text size',
  textSizes: { small: 'Small', medium: 'Medium', large: 'Large', largest: 'Largest' },
  density: 'Spacing',
  densities: { roomy: 'Roomy', compact: 'Compact' },
  contrast: 'Contrast',
  contrasts: { system: 'Same as system', more: 'High' },
  motion: 'Motion',
  motions: { system: 'Same as system', less: 'Reduced' },
  notices: 'When an answer is ready',
  noticesOff: 'No notification',
  noticesOn: 'Notify me',
  noticesWhen: 'Only while you are not looking at this page.',
  noticesRefused: 'The browser blocks notifications from this page. Allow them in the browser settings for this site.',
  followUps: 'Follow-up questions',
  followUpsOff: 'No suggestions',
  followUpsOn: 'Suggest questions',
  followUpsMean: (model: string) => `After each answer, ${model} is asked for up to three questions. This uses your tokens.`,
  dictation: 'Dictation',
  dictationOff: 'Off',
  dictationMachine: 'On this device',
  dictationMaker: 'Also by the browser’s maker',
  dictationMeans: {
    off: 'Messages are typed.',
    machine: 'A microphone appears next to the message if your browser can turn speech into text on this device.',
    maker:
      'If your browser cannot do it on this device, your speech is sent to the browser’s maker, who turns it into text. Do not dictate anything that the maker must not hear.',
  },
};

export type DisplayStrings = typeof displayEnglish;
