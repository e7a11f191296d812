import type { FormsStrings } from './forms-english.ts';

export const formsGerman: FormsStrings = {
  required: 'erforderlich',
  chooseOne: 'Wählen …',
  mustBeFilled: 'Das wird gebraucht.',
  mustBeNumber: 'Eine Zahl wird gebraucht.',
  mustBeWhole: 'Eine ganze Zahl wird gebraucht.',
  atLeast: (bound) => `Mindestens ${bound}.`,
  atMost: (bound) => `Höchstens ${bound}.`,
  longEnough: (bound) => `Mindestens ${bound} Zeichen.`,
  shortEnough: (bound) => `Höchstens ${bound} Zeichen.`,
  mustBeEmail: 'Das ist keine E-Mail-Adresse.',
  mustBeAddress: 'Das ist keine Adresse im Web, wie https://example.com.',
  mustBeDate: 'Das ist kein Datum.',
  mustBeTime: 'Das ist keine Uhrzeit.',
  mustBeFormed: 'Das hat nicht die verlangte Form.',
  yes: 'ja',
  no: 'nein',
  mustBeJson: 'Das ist kein gültiges JSON.',
  asJsonValue: 'Dieses Formular ist ungewöhnlich; fülle es als JSON aus.',
};
