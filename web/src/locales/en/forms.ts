export const formsEnglish = {
  required: 'required',
  chooseOne: 'Choose…',
  mustBeFilled: 'This field is required.',
  mustBeNumber: 'Enter a number.',
  mustBeWhole: 'Enter a whole number.',
  atLeast: (bound: number) => `At least ${bound}.`,
  atMost: (bound: number) => `At most ${bound}.`,
  minLength: (bound: number) => `At least ${bound} ${bound === 1 ? 'character' : 'characters'}.`,
  maxLength: (bound: number) => `At most ${bound} ${bound === 1 ? 'character' : 'characters'}.`,
  mustBeEmail: 'Enter an email address.',
  mustBeAddress: 'Enter a web address, such as https://example.com.',
  mustBeDate: 'Enter a date.',
  mustBeTime: 'Enter a time.',
  invalidFormat: 'This does not have the required format.',
  yes: 'yes',
  no: 'no',
  mustBeJson: 'This is not valid JSON.',
  asJsonValue: 'The page cannot show this form. Fill it in as JSON.',
};

export type FormsStrings = typeof formsEnglish;
