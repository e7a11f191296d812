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
  notifications: 'When an answer is ready',
  notificationsOff: 'No notification',
  notificationsOn: 'Notify me',
  notificationsHint: 'Only while you are not looking at this page.',
  notificationsBlocked: 'The browser blocks notifications from this page. Allow them in the browser settings for this site.',
  followUps: 'Follow-up questions',
  followUpsOff: 'No suggestions',
  followUpsOn: 'Suggest questions',
  followUpsHint: (model: string) => `After each answer, ${model} suggests up to three questions. This counts toward your usage.`,
  dictation: 'Dictation',
  dictationOff: 'Off',
  dictationOnDevice: 'On this device',
  dictationOnline: 'Online if needed',
  dictationHints: {
    off: 'No microphone button is shown. You type your messages.',
    onDevice: 'A microphone appears next to the message if your browser can turn speech into text on this device.',
    online:
      'If your browser cannot turn speech into text on this device, your speech is sent to the company that makes the browser. Do not dictate information that this company must not receive.',
  },
};

export type DisplayStrings = typeof displayEnglish;
