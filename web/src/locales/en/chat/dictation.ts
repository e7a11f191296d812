/** Texts next to the microphone. */
export const dictationEnglish = {
  dictate: 'Dictate',
  stopDictating: 'Stop dictating',
  recognizedOnDevice: 'Your speech becomes text on this device.',
  recognizedOnline: 'Your speech is sent to the company that makes your browser, which turns it into text.',
  dictationFailed: 'The browser did not record your speech. Allow the microphone for this page, or try again.',
};

export type DictationStrings = typeof dictationEnglish;
