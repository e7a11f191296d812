export const formsEnglish = {
  required: 'required',
  chooseOne: 'Choose…',
  mustBeFilled: 'This is needed.',
  mustBeNumber: 'A number is needed.',
  mustBeWhole: 'A whole number is needed.',
  atLeast: (bound: number) => `At least ${bound}.`,
  atMost: (bound: number) => `At most ${bound}.`,
  longEnough: (bound: number) => `At least ${bound} ${bound === 1 ? 'character' : 'characters'}.`,
  shortEnough: (bound: number) => `At most ${bound} ${bound === 1 ? 'character' : 'characters'}.`,
  mustBeEmail: 'This is no e-mail address.',
  mustBeAddress: 'This is no address of the web, such as https://example.com.',
  mustBeDate: 'This is no date.',
  mustBeTime: 'This is no time of the day.',
  mustBeFormed: 'This does not have the form that is asked for.',
  yes: 'yes',
  no: 'no',
  mustBeJson: 'This is not valid JSON.',
  asJsonValue: 'This form is unusual; fill it in as JSON.',
};

export type FormsStrings = typeof formsEnglish;
