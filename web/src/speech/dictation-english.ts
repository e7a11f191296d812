/** What is said beside the microphone. */
export const dictationEnglish = {
  dictate: 'Dictate',
  stopDictating: 'Stop dictating',
  heardHere: 'What you say becomes text on this machine.',
  heardByMaker: 'What you say goes to the maker of your browser, who turns it into text.',
  dictationFailed: 'The browser did not take your speech. Allow the microphone for this page, or try again.',
};

export type DictationStrings = typeof dictationEnglish;
