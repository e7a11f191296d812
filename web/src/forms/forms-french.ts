import { createPlural } from '../strings/create-plural.ts';
import type { FormsStrings } from './forms-english.ts';

const plural = createPlural('fr');

export const formsFrench: FormsStrings = {
  required: 'obligatoire',
  chooseOne: 'Choisir…',
  mustBeFilled: 'Ce champ est obligatoire.',
  mustBeNumber: 'Saisissez un nombre.',
  mustBeWhole: 'Saisissez un nombre entier.',
  atLeast: (bound) => `Au moins ${bound}.`,
  atMost: (bound) => `Au plus ${bound}.`,
  longEnough: (bound) => `Au moins ${bound} ${plural(bound, 'caractère', 'caractères')}.`,
  shortEnough: (bound) => `Au plus ${bound} ${plural(bound, 'caractère', 'caractères')}.`,
  mustBeEmail: 'Ce n’est pas une adresse e-mail.',
  mustBeAddress: 'Ce n’est pas une adresse web, comme https://example.com.',
  mustBeDate: 'Ce n’est pas une date.',
  mustBeTime: 'Ce n’est pas une heure.',
  mustBeFormed: 'Ceci n’a pas la forme demandée.',
  yes: 'oui',
  no: 'non',
  mustBeJson: 'Ce JSON n’est pas valide.',
  asJsonValue: 'Ce formulaire est inhabituel ; remplissez-le en JSON.',
};
