import type { FormsStrings } from '../en/forms.ts';

export const formsGerman: FormsStrings = {
  required: 'erforderlich',
  chooseOne: 'Wählen …',
  mustBeFilled: 'Dieses Feld ist erforderlich.',
  mustBeNumber: 'Gib eine Zahl ein.',
  mustBeWhole: 'Gib eine ganze Zahl ein.',
  atLeast: (bound) => `Mindestens ${bound}.`,
  atMost: (bound) => `Höchstens ${bound}.`,
  minLength: (bound) => `Mindestens ${bound} Zeichen.`,
  maxLength: (bound) => `Höchstens ${bound} Zeichen.`,
  mustBeEmail: 'Gib eine E-Mail-Adresse ein.',
  mustBeAddress: 'Gib eine Webadresse ein, wie https://example.com.',
  mustBeDate: 'Gib ein Datum ein.',
  mustBeTime: 'Gib eine Uhrzeit ein.',
  invalidFormat: 'Das hat nicht das verlangte Format.',
  yes: 'ja',
  no: 'nein',
  mustBeJson: 'Das ist kein gültiges JSON.',
  asJsonValue: 'Die Seite kann dieses Formular nicht anzeigen. Fülle es als JSON aus.',
};
